#include "cli/program.h"

int main(int argc, char** argv) { return tandem::programMain(argc, argv); }
