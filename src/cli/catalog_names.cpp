#include "cli/catalog_names.h"

#include "base/catalog.h"
#include "comm/group.h"
#include "data/batch_maker.h"
#include "data/image_preparation.h"
#include "data/source.h"
#include "device/layout.h"
#include "device/precision.h"
#include "engine/loss.h"
#include "engine/score.h"
#include "executor/executor.h"
#include "executor/image_padding.h"
#include "kernels/convolution.h"
#include "models/model.h"
#include "models/weights_map.h"
#include "optim/optimizer.h"
#include "report/renderer.h"
#include "strategy/strategy.h"

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
           {Choices::graphs, {"auto", "on", "off"}},
           {Choices::overlaps, {"on", "off"}},
           {Choices::scalings, {"weak", "strong"}},
           {Choices::augments, namesOf(augments())},
           {Choices::schedules, namesOf(schedules())},
           {Choices::optimizers, namesOf(optimizers())},
           {Choices::formats, namesOf(renderers())},
           {Choices::lossPlaces, namesOf(lossPlaces())},
           {Choices::weightsMaps, namesOf(weightsMaps())},
           {Choices::normalizations, namesOf(normalizations())},
           {Choices::badImages, {"fail", "skip"}},
           {Choices::scores, namesOf(scores())}}};
}

}  // namespace tandem
