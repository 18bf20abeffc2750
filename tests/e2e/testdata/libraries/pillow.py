# cold
import io

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps

image = Image.new("RGB", (100, 60), "white")
draw = ImageDraw.Draw(image)
draw.rectangle((10, 10, 50, 50), fill=(255, 0, 0))
draw.ellipse((60, 10, 90, 50), outline="blue")
draw.text((5, 5), "text", fill="black", font=ImageFont.load_default())
assert image.getpixel((30, 30)) == (255, 0, 0) and image.getpixel((99, 59)) == (255, 255, 255)
for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "ICO", "PDF"):
    data = io.BytesIO()
    image.save(data, kind)
    if kind != "PDF":
        data.seek(0)
        again = Image.open(data)
        again.load()
        assert again.format == kind, kind
        if kind in ("PNG", "BMP", "TIFF", "PPM"):
            assert ImageChops.difference(again.convert("RGB"), image).getbbox() is None, kind
small = image.resize((50, 30), Image.LANCZOS).rotate(90, expand=True).filter(ImageFilter.GaussianBlur(2))
assert small.size == (30, 50) and ImageOps.grayscale(small).mode == "L"
assert image.histogram()[255] > 1000 and image.crop((0, 0, 10, 10)).size == (10, 10)
image.save("x.png")
assert Image.open("x.png").tobytes() == image.tobytes()
print("ok")
