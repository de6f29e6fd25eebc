// Fits Weka's TAN and AODE to the folds of one table and prints each fold's CPU seconds and posteriors.
// java -cp weka.jar benchmarks/WekaFolds.java table.arff folds.txt
// A line of folds.txt holds the rows (from 0) that one fold is tested on; the fold learns from all others.
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.BitSet;
import weka.classifiers.Classifier;
import weka.classifiers.bayes.AODE;
import weka.classifiers.bayes.BayesNet;
import weka.classifiers.bayes.net.search.local.TAN;
import weka.classifiers.meta.FilteredClassifier;
import weka.core.Instances;
import weka.filters.supervised.attribute.Discretize;

public class WekaFolds {
    static Classifier binned(Classifier model) {
        FilteredClassifier filtered = new FilteredClassifier();
        filtered.setFilter(new Discretize());
        filtered.setClassifier(model);
        return filtered;
    }

    static Classifier make(String name) {
        if (name.equals("AODE")) {  // frequency limit 1 and m-estimates of weight 1, as published
            AODE aode = new AODE();
            aode.setFrequencyLimit(1);
            aode.setUseMEstimates(true);
            aode.setWeight(1);
            return binned(aode);
        }
        BayesNet net = new BayesNet();
        net.setSearchAlgorithm(new TAN());
        net.setUseADTree(false);
        return binned(net);
    }

    static double cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
    }

    public static void main(String[] args) throws Exception {
        Instances data = new Instances(new BufferedReader(new FileReader(args[0])));
        data.setClassIndex(data.numAttributes() - 1);
        PrintStream out = new PrintStream(System.out, false);
        BufferedReader folds = new BufferedReader(new FileReader(args[1]));
        int fold = 0;
        for (String line = folds.readLine(); line != null; line = folds.readLine(), fold++) {
            BitSet tested = new BitSet();
            for (String row : line.split(" ")) tested.set(Integer.parseInt(row));
            Instances train = new Instances(data, 0), test = new Instances(data, 0);
            for (int i = 0; i < data.numInstances(); i++) (tested.get(i) ? test : train).add(data.instance(i));
            for (String name : new String[] {"TAN", "AODE"}) {
                double start = cpu();
                Classifier model = make(name);
                model.buildClassifier(train);
                double[][] posterior = new double[test.numInstances()][];
                for (int i = 0; i < posterior.length; i++) posterior[i] = model.distributionForInstance(test.instance(i));
                out.println("fold " + name + " " + fold + " " + (cpu() - start));
                for (double[] row : posterior) {
                    StringBuilder text = new StringBuilder();
                    for (double p : row) text.append((float) p).append(' ');
                    out.println(text);
                }
            }
        }
        out.flush();
    }
}
