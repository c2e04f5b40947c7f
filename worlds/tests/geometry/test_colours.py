import numpy as np
import pytest

from navloom.errors import SceneError
from navloom.scenes.scene import Item
from navloom_worlds.geometry.colours import item_surface, material_surface, rgb_of
from navloom_worlds.geometry.textures import TEXTURES, texture_pixels
from navloom_worlds.homes.catalogue import CLASSES
from navloom_worlds.homes.styles import _styles


def test_every_word_of_the_styles_has_a_look_of_its_own():
    styles = _styles()
    looks = [*styles.common.values()]
    looks += [each for style in styles.styles.values() for each in style.looks.values()]
    nowhere = (0.123, 0.456, 0.789)
    for word in {colour for each in looks for colour in each.colours} - {"natural"}:
        surface = material_surface(word, "plastic")
        assert rgb_of(word, nowhere) != nowhere or surface.texture, word
    unknown = material_surface(None, "no such stuff")
    for word in {material for each in looks for material in each.materials}:
        assert material_surface(None, word) != unknown, word


def test_colours_that_no_style_has_come_from_css_and_from_their_last_word():
    assert rgb_of("Lavender") == pytest.approx((230 / 255, 230 / 255, 250 / 255))
    assert rgb_of("dark grey") == rgb_of("Dark-Grey")
    assert sum(rgb_of("pale olive")) > sum(rgb_of("olive")) > sum(rgb_of("deep olive"))
    assert rgb_of("qwerty", (0.1, 0.2, 0.3)) == (0.1, 0.2, 0.3)
    assert rgb_of(None, (0.1, 0.2, 0.3)) == (0.1, 0.2, 0.3)


def test_things_without_a_colour_look_like_what_they_are():
    def thing(name, region="Kitchen_1"):
        return Item(id="1", name=name, kind="asset", region=region, position=(0, 0, 0))

    assert min(item_surface(thing("toilet")).rgb) > 0.85
    assert item_surface(thing("fridge")).gloss > 0.2
    assert item_surface(thing("dining chair")).texture in ("wood", "")
    assert item_surface(thing("dining chair")) == item_surface(thing("dining chair"))
    assert item_surface(thing("some unheard-of thing")).rgb


def test_textures_repeat_without_a_seam_and_are_the_same_each_time():
    for name in TEXTURES:
        pixels = texture_pixels(name).astype(float)
        assert pixels.shape == (256, 256, 3)
        for axis in (0, 1):
            steps = np.abs(np.diff(pixels, axis=axis)).mean(axis=(1 - axis, 2))
            seam = np.abs(pixels.take(0, axis) - pixels.take(-1, axis)).mean()
            assert seam <= steps.max() + 6, (name, axis)
        again = texture_pixels.__wrapped__(name)
        assert np.array_equal(again, texture_pixels(name)), name
    with pytest.raises(SceneError, match="Did you mean 'brick'"):
        texture_pixels("bricks")


def test_every_class_of_the_catalogue_has_usual_looks():
    from navloom_worlds.geometry.colours import _USUAL

    assert set(_USUAL) == set(CLASSES)
