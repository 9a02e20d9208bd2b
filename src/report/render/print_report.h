#pragma once

#include <ostream>
#include <span>
#include <string>

#include "measure/record/record.h"
#include "report/render/renderer.h"

namespace tandem {

/// Prints the report on `records`. A format for programs gets its one file. Any other format gets the sections of a
/// text (report/contents.h) and the verdict. REQUIRES: at least one record.
void printReport(std::span<const RunRecord> records, const RendererEntry& format, std::ostream& out);

/// Prints the end of bench: the runs in `format` to `out`, then the sections after bench and the verdict to `people`.
/// `people` must be another stream if the format is for programs. REQUIRES: at least one record.
void printBenchEnd(std::span<const RunRecord> records, const RendererEntry& format, std::ostream& out,
                   std::ostream& people);

/// Prints the end of a training: what became of it, its evaluations, figures by class, where its time went, and notes.
/// A format for programs gets the run to `out` and the rest goes to `people`, which must be another stream; other
/// formats print all to `out`. REQUIRES: a finished training.
void printTrainingEnd(const RunRecord& record, const RendererEntry& format, std::ostream& out, std::ostream& people);

/// Writes `text` of a report to `path`, whole or not at all. Throws StorageError.
void writeReport(const std::string& text, const std::string& path);

/// Writes the HTML page of the records to `path`. Throws StorageError.
void writePage(std::span<const RunRecord> records, const std::string& path);

}  // namespace tandem
