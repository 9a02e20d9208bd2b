#include "cli/catalog_names.h"

#include "base/catalog.h"
#include "comm/group.h"
#include "data/loader/batch_maker.h"
#include "data/loader/batch_source.h"
#include "data/transform/image_preparation.h"
#include "device/memory_layout.h"
#include "device/precision.h"
#include "executor/executor.h"
#include "executor/select/channel_padding.h"
#include "kernels/conv/convolution.h"
#include "models/model.h"
#include "models/names/weights_map.h"
#include "optim/optimizer.h"
#include "report/render/renderer.h"
#include "run/output_activation.h"
#include "strategy/strategy.h"
#include "train/loss/loss.h"

namespace tandem {

CatalogNames catalogNames() {
  return {{{Choices::models, namesOf(models())},
           {Choices::strategies, namesOf(strategies())},
           {Choices::executors, namesOf(executors())},
           {Choices::recomputes, namesOf(recomputes())},
           {Choices::precisions, namesOf(precisions())},
           {Choices::inputs, namesOf(sources())},
           {Choices::allReduces, namesOf(allReduces())},
           {Choices::layouts, namesOf(layouts())},
           {Choices::convolutions, namesOf(convolutionAlgorithms())},
           {Choices::imagePaddings, namesOf(imagePaddings())},
           {Choices::losses, namesOf(losses())},
           {Choices::cudaGraphs, {"auto", "on", "off"}},
           {Choices::overlaps, {"on", "off"}},
           {Choices::scalings, {"weak", "strong"}},
           {Choices::augments, namesOf(augments())},
           {Choices::schedules, namesOf(schedules())},
           {Choices::optimizers, namesOf(optimizers())},
           {Choices::formats, namesOf(renderers())},
           {Choices::lossPlacements, namesOf(lossPlacements())},
           {Choices::weightsMaps, namesOf(weightsMaps())},
           {Choices::normalizations, namesOf(normalizations())},
           {Choices::badImages, {"fail", "skip"}},
           {Choices::scores, namesOf(scores())}}};
}

}  // namespace tandem
