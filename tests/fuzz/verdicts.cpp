#include <iostream>
#include <string>

#include "base/error.h"
#include "formats/weights/weights_file.h"

// Judges the weights files whose paths stand on standard input, a line each: "accepted", or "refused" and why. For
// scripts/verify-weights, which asks for many thousands.
int main() {
  for (std::string path; std::getline(std::cin, path);) {
    try {
      tandem::WeightsFile::open(path);
      std::cout << "accepted" << std::endl;
    } catch (const tandem::CheckpointError& error) {
      std::cout << "refused " << error.what() << std::endl;
    }
  }
}
