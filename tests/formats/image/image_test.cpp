#include "formats/image/image.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "formats/image/encode.h"
#include "support/tests_folder.h"

// The files of tests/golden/images are written by tests/golden/make_images.py.
namespace tandem {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes golden(const std::string& name) {
  std::ifstream file(concat(testsFolder(), "/golden/images/", name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string refusal(const Bytes& bytes, const ImageLimits& limits = {}) {
  const auto image = decodeImage(bytes, limits);
  return image ? "accepted" : image.error().text;
}

void expectRefused(const Bytes& bytes, const std::string& part, const ImageLimits& limits = {}) {
  EXPECT_NE(refusal(bytes, limits).find(part), std::string::npos) << refusal(bytes, limits);
}

/// Position behind the first `marker`.
size_t behind(const Bytes& bytes, const std::string& marker) {
  const Bytes wanted(marker.begin(), marker.end());
  const auto found = std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
  return static_cast<size_t>(found - bytes.begin()) + marker.size();
}

/// With the sizes of its header replaced, and no checksum made good.
Bytes jpegOfSize(int height, int width, const std::string& name = "rgb.jpg") {
  Bytes bytes = golden(name);
  const size_t at = behind(bytes, std::string("\xFF") + (name == "progressive.jpg" ? '\xC2' : '\xC0')) + 3;
  bytes[at] = static_cast<uint8_t>(height >> 8), bytes[at + 1] = static_cast<uint8_t>(height);
  bytes[at + 2] = static_cast<uint8_t>(width >> 8), bytes[at + 3] = static_cast<uint8_t>(width);
  return bytes;
}

TEST(Image, DecodesAsPillowDoes) {
  std::ifstream file(concat(testsFolder(), "/golden/images/expected.json"));
  const auto expected = nlohmann::json::parse(file).at("decoded");
  ASSERT_EQ(expected.size(), 9U);
  for (const auto& [name, wanted] : expected.items()) {
    const auto image = decodeImage(golden(name));
    ASSERT_TRUE(image.ok()) << name << ": " << image.error().text;
    EXPECT_EQ(image.value().height, wanted.at("height").get<int64_t>()) << name;
    EXPECT_EQ(image.value().width, wanted.at("width").get<int64_t>()) << name;
    EXPECT_EQ(image.value().pixels, wanted.at("pixels").get<Bytes>()) << name;
  }
}

TEST(Image, RefusesTruncatedFiles) {
  for (const std::string name :
       {"rgb.jpg", "progressive.jpg", "grey.jpg", "rgb.png", "interlaced.png", "palette.png"}) {
    const Bytes whole = golden(name);
    for (const size_t percent : {0, 1, 10, 50, 90, 99}) {
      EXPECT_NE(refusal({whole.begin(), whole.begin() + static_cast<int64_t>(whole.size() * percent / 100)}),
                "accepted")
          << name << ", " << percent << " %";
    }
  }
  const Bytes png = golden("rgb.png");
  expectRefused({png.begin(), png.end() - 12}, "damaged");  // without IEND
}

TEST(Image, RefusesOtherFiles) {
  expectRefused({}, "the file is empty");
  const std::string page = "<html><body>not found</body></html>";
  expectRefused({page.begin(), page.end()}, "neither like a JPEG nor like a PNG");
  expectRefused(golden("cmyk.jpg"), "CMYK");
}

TEST(Image, ChecksSizesBeforeItAllocates) {
  expectRefused(jpegOfSize(65500, 65500), "it is 65500x65500 pixels; the limits are 32768");
  expectRefused(jpegOfSize(1, 60000), "it is 60000x1 pixels");
  expectRefused(jpegOfSize(0, 60), "damaged");
  expectRefused(jpegOfSize(18, 26), "it is 26x18 pixels", {.pixels = 467});
  EXPECT_EQ(refusal(jpegOfSize(18, 26), {.pixels = 468}), "accepted");
  Bytes png = golden("rgb.png");
  const size_t at = behind(png, "IHDR");
  png[at] = 0x7F;
  EXPECT_NE(refusal(png), "accepted");  // the checksum is wrong
}

TEST(Image, RefusesDamage) {
  Bytes jpeg = golden("rgb.jpg");
  for (size_t i = behind(jpeg, "\xFF\xDA") + 20; i + 4 < jpeg.size(); i += 3) jpeg[i] = 0x55;
  expectRefused(jpeg, "damaged");
  Bytes png = golden("rgb.png");
  png[behind(png, "IDAT") + 8] ^= 1;
  expectRefused(png, "damaged");
}

TEST(Image, RefusesBombs) {
  Bytes jpeg = golden("progressive.jpg");
  EXPECT_EQ(refusal(jpeg, {.scans = 10}), "accepted");
  expectRefused(jpeg, "scans; the limit is 9", {.scans = 9});
  expectRefused(golden("bomb.png"), "damaged or of a kind that is not read");
}

TEST(Image, IsWrittenAsGreyWhereAllPixelsAre) {
  Image image{2, 2, {0, 0, 0, 9, 9, 9, 200, 200, 200, 255, 255, 255}};
  const ImageEncoding& png = imageEncodings().back();
  constexpr size_t colourType = 25;  // of the header, which follows the signature
  for (const uint8_t type : {0, 2}) {
    const Bytes bytes = png.encode(image);
    EXPECT_EQ(bytes.at(colourType), type);
    EXPECT_EQ(decodeImage(bytes).value().pixels, image.pixels);
    image.pixels[7] = 201;
  }
}

}  // namespace
}  // namespace tandem
