#include "config/modes.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

constexpr ScalingEntry scalingRows[] = {
    {"weak", "--batch is the images of each replica", false},
    {"strong", "--batch is the images of all replicas together", true},
};

constexpr OverlapEntry overlapRows[] = {
    {"on", "gradients are exchanged while backward goes on", true},
    {"off", "gradients are exchanged after backward", false},
};

constexpr CudaGraphEntry cudaGraphRows[] = {
    {"auto", "a step is captured wherever it can be", true, false},
    {"on", "a step is captured, or the run is refused", true, true},
    {"off", "each kernel of a step is launched by itself", false, false},
};

constexpr VerifyEntry verifyRows[] = {
    {"auto", "where it takes less than a tenth of the time of the point's repeats", true, false},
    {"on", "whatever it costs", true, true},
    {"off", "nothing is compared", false, false},
};

constexpr BadImageEntry badImageRows[] = {
    {"fail", "an image that cannot be read ends the run", false, false},
    {"skip", "an image that cannot be read is left out; in training the next one takes its place", true, false},
    {"zero", "an image that cannot be read is black", false, true},
};

constexpr DecodingEntry decodingRows[] = {
    {"exact", "the pixels that Pillow and torchvision decode", false},
    {"fast", "of a JPEG only what is seen, coarser and, where it is scaled, in the nearest larger of four sizes", true},
};

constexpr LoaderEntry loaderRows[] = {
    {"threads", "threads of the program", false},
    {"processes", "processes of their own, which share memory with the program", true},
};

constexpr LrScalingEntry lrScalingRows[] = {
    {"none", "the rate is that of --lr, whatever the batch", [](double) { return 1.0; }},
    {"linear", "the rate grows as the global batch does", [](double ratio) { return ratio; }},
    {"sqrt", "the rate grows as the square root of the global batch does",
     [](double ratio) { return std::sqrt(ratio); }},
};

constexpr DecayedEntry decayedRows[] = {
    {"all", "all parameters", false},
    {"weights", "weights of convolutions and linear layers: no biases, nothing of normalizations", true},
};

constexpr FrozenEntry frozenRows[] = {
    {"none", "all parameters are trained", false},
    {"body", "only the layer that gives the classes is trained; of normalizations nothing changes", true},
};

constexpr ResumeEntry resumeRows[] = {
    {"never", "it begins anew; a folder with checkpoints is refused", false, false},
    {"auto", "it goes on if there is a checkpoint", true, false},
    {"always", "it goes on, or is refused without a checkpoint", true, true},
};

constexpr NanPolicyEntry nanPolicyRows[] = {
    {"stop", "the training ends with exit code 7", false},
    {"back", "it goes back to the last checkpoint, with half the learning rate, at most three times", true},
};

}  // namespace

std::span<const ScalingEntry> scalings() { return scalingRows; }
bool batchIsGlobal(std::string_view scaling) {
  return std::ranges::any_of(scalings(),
                             [&](const ScalingEntry& row) { return row.name == scaling && row.batchIsGlobal; });
}

std::span<const OverlapEntry> overlaps() { return overlapRows; }
std::span<const CudaGraphEntry> cudaGraphs() { return cudaGraphRows; }
std::span<const VerifyEntry> verifications() { return verifyRows; }
const VerifyEntry& withoutVerification() { return *std::ranges::find(verifyRows, false, &VerifyEntry::wanted); }
std::span<const BadImageEntry> badImages() { return badImageRows; }
std::span<const DecodingEntry> decodings() { return decodingRows; }
std::span<const LoaderEntry> loaders() { return loaderRows; }
std::span<const LrScalingEntry> lrScalings() { return lrScalingRows; }
std::span<const DecayedEntry> decayedParameters() { return decayedRows; }
std::span<const FrozenEntry> frozenParameters() { return frozenRows; }
std::span<const ResumeEntry> resumes() { return resumeRows; }
std::span<const NanPolicyEntry> nanPolicies() { return nanPolicyRows; }

}  // namespace tandem
