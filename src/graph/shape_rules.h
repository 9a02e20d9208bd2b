#pragma once

#include <span>

#include "graph/graph.h"

/// Shape rules of the operation catalog. The caller has checked the number of inputs. Each rule throws UsageError that
/// states the values and the rule they break.
namespace tandem::shape_rules {

using Shapes = std::span<const ImageShape>;

ImageShape same(const Attributes&, Shapes inputs);
ImageShape add(const Attributes&, Shapes inputs);
ImageShape concat(const Attributes&, Shapes inputs);
ImageShape multiply(const Attributes&, Shapes inputs);
ImageShape conv(const Attributes& attributes, Shapes inputs);
ImageShape dilatedConv(const Attributes& attributes, Shapes inputs);
ImageShape linear(const Attributes& attributes, Shapes inputs);
ImageShape channelLinear(const Attributes& attributes, Shapes inputs);
ImageShape batchNorm(const Attributes& attributes, Shapes inputs);
ImageShape layerNorm(const Attributes& attributes, Shapes inputs);
ImageShape localResponseNorm(const Attributes& attributes, Shapes inputs);
ImageShape pool(const Attributes& attributes, Shapes inputs);
ImageShape adaptivePool(const Attributes& attributes, Shapes inputs);
ImageShape globalPool(const Attributes&, Shapes inputs);
ImageShape subsample(const Attributes& attributes, Shapes inputs);
ImageShape pad(const Attributes& attributes, Shapes inputs);
ImageShape padChannels(const Attributes& attributes, Shapes inputs);
ImageShape firstChannels(const Attributes& attributes, Shapes inputs);
ImageShape channelRange(const Attributes& attributes, Shapes inputs);
ImageShape channelShuffle(const Attributes& attributes, Shapes inputs);
ImageShape flatten(const Attributes&, Shapes inputs);
ImageShape dropout(const Attributes& attributes, Shapes inputs);
ImageShape classToken(const Attributes&, Shapes inputs);
ImageShape tokens(const Attributes&, Shapes inputs);
ImageShape attention(const Attributes& attributes, Shapes inputs);
ImageShape firstToken(const Attributes&, Shapes inputs);
ImageShape boxValues(const Attributes& attributes, Shapes inputs);
ImageShape joinTokens(const Attributes&, Shapes inputs);

}  // namespace tandem::shape_rules
