"""Makes Inter-ringside.ttf from Inter's variable font (Inter-roman.var.ttf of Inter 4).

Usage: python make_inter.py Inter-roman.var.ttf Inter-ringside.ttf   (needs fonttools)

Keeps the weight axis, Latin, Greek, Cyrillic, punctuation, arrows and mathematical signs, and
makes the tabular figures (`tnum`) the default ones, because egui cannot choose OpenType features:
numbers that change many times a second must not move.
"""

import sys

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

RANGES = [
    (0x0020, 0x024F),  # Latin
    (0x0370, 0x03FF),  # Greek
    (0x0400, 0x04FF),  # Cyrillic
    (0x1E00, 0x1EFF),  # Latin, Vietnamese
    (0x2000, 0x206F),  # punctuation
    (0x2070, 0x209F),  # superscripts
    (0x20A0, 0x20BF),  # currencies
    (0x2100, 0x214F),  # letter-like
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematics
    (0x25A0, 0x25FF),  # shapes
]
# Only figures and the signs that stand in numbers; letters keep their spacing.
TABULAR = "0123456789"


def tabular_names(font):
    """Glyph name -> name of its tabular form."""
    table = font["GSUB"].table
    names = {}
    for record in table.FeatureList.FeatureRecord:
        if record.FeatureTag == "tnum":
            for index in record.Feature.LookupListIndex:
                for part in table.LookupList.Lookup[index].SubTable:
                    part = getattr(part, "ExtSubTable", part)
                    names.update(getattr(part, "mapping", {}))
    return names


def main(source, target):
    font = TTFont(source)
    fixed = {axis.axisTag: axis.defaultValue for axis in font["fvar"].axes if axis.axisTag != "wght"}
    if fixed:
        font = instancer.instantiateVariableFont(font, fixed)
    forms = tabular_names(font)
    for table in font["cmap"].tables:
        for character in TABULAR:
            name = table.cmap.get(ord(character))
            if name in forms:
                table.cmap[ord(character)] = forms[name]
    options = subset.Options()
    options.layout_features = ["ccmp", "locl", "mark", "mkmk", "kern", "case"]
    options.name_IDs = ["*"]
    options.notdef_outline = True
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
    subsetter.subset(font)
    font.save(target)


main(*sys.argv[1:])
