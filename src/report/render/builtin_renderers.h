#pragma once

#include <memory>
#include <ostream>

#include "report/render/renderer.h"

namespace tandem {

/// Aligned columns for a terminal: a heading, a line of units, the rows, the notes.
std::unique_ptr<Renderer> makeTableRenderer(std::ostream& out);

/// The same table in Markdown, the notes as a list.
std::unique_ptr<Renderer> makeMarkdownRenderer(std::ostream& out);

/// A heading, then a line per record: time, host, every option, every metric in full precision, outcome, reason,
/// steady, notes. Fields are quoted by RFC 4180, lines end with "\n". A value that was not measured is an empty field.
std::unique_ptr<Renderer> makeCsvRenderer(std::ostream& out);

/// An array of the stored records, written as they arrive.
std::unique_ptr<Renderer> makeJsonRenderer(std::ostream& out);

/// One HTML page with charts: every section of report/contents.h.
std::unique_ptr<Renderer> makeHtmlRenderer(std::ostream& out);

}  // namespace tandem
