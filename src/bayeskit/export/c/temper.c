/* P(c) becomes P(c) to a power, over their sum: what a temperature does to a posterior. */
static void temper(double *p, double power)
{
    double total = 0.0;
    int c;
    for (c = 0; c < N_CLASSES; ++c) total += p[c] = pow(p[c], power);
    for (c = 0; c < N_CLASSES; ++c) p[c] /= total;
}
