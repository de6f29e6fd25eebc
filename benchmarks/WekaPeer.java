// Times Weka's AODE and TAN on two ARFF files: best CPU time of several runs, after the JVM has warmed up.
// java -cp weka.jar benchmarks/WekaPeer.java train.arff test.arff
import java.io.BufferedReader;
import java.io.FileReader;
import java.lang.management.ManagementFactory;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.AODE;
import weka.classifiers.bayes.BayesNet;
import weka.classifiers.bayes.net.search.local.TAN;
import weka.core.Instances;

public class WekaPeer {
    interface Work { void run() throws Exception; }

    static double best(int runs, Work work) throws Exception {
        double best = Double.POSITIVE_INFINITY;
        for (int i = 0; i < runs; i++) {
            long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            work.run();
            best = Math.min(best, (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start) / 1e9);
        }
        return best;
    }

    static Classifier tan() {
        BayesNet net = new BayesNet();
        net.setSearchAlgorithm(new TAN());
        net.setUseADTree(false);
        return net;
    }

    static void measure(String name, java.util.function.Supplier<Classifier> make, Instances train, Instances test)
            throws Exception {
        Classifier[] last = new Classifier[1];
        double fit = best(4, () -> { last[0] = make.get(); last[0].buildClassifier(train); });
        double predict = best(6, () -> {
            for (int i = 0; i < test.numInstances(); i++) last[0].distributionForInstance(test.instance(i));
        });
        System.out.println(name + " " + fit + " " + predict);
    }

    static Instances read(String path) throws Exception {
        Instances data = new Instances(new BufferedReader(new FileReader(path)));
        data.setClassIndex(data.numAttributes() - 1);
        return data;
    }

    public static void main(String[] args) throws Exception {
        Instances train = read(args[0]), test = read(args[1]);
        measure("AODE", AODE::new, train, test);
        measure("TAN", WekaPeer::tan, train, test);
    }
}
