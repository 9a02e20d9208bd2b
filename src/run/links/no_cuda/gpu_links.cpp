#include "run/links/link_order.h"

namespace tandem {

void measureGpuCopies(const LinkOrder&, const LinkSink&) {}

}  // namespace tandem
