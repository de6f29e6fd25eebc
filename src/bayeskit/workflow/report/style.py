"""The look of a report, and of the studio: light and dark, wide and narrow, screen and paper."""

from pathlib import Path

# The colours, in one place for the report and the studio.
LIGHT = """--paper:#fbfbfa;--card:#fff;--ink:#1f2730;--soft:#5c6773;--line:#e2e5e8;--faint:#f1f3f5;
 --blue:#0072b2;--red:#c8500a;--grey:#8c8c8c;--hit:#0072b2;--miss:#d55e00;
 --hue-a:#0072b2;--hue-b:#d55e00;--hue-c:#009e73;--hue-d:#a3568f;--hue-e:#b8860b;--hue-f:#3a8fc0;--hue-g:#8a5a2b;--hue-h:#6a6a6a"""
DARK = """--paper:#14181c;--card:#1b2026;--ink:#e4e8ec;--soft:#9aa5b1;--line:#2e353d;--faint:#232a31;
 --blue:#4aa8dd;--red:#f08a4b;--grey:#8c959e;--hit:#2f8fc8;--miss:#e07b39;
 --hue-a:#4aa8dd;--hue-b:#f08a4b;--hue-c:#2fc79a;--hue-d:#d98cc4;--hue-e:#e0b83c;--hue-f:#9ad0f0;--hue-g:#c99a6b;--hue-h:#b0b0b0"""
FONTS = """system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","PingFang SC","Microsoft YaHei",
 "Noto Sans CJK SC","WenQuanYi Micro Hei",sans-serif"""
# As the reader's system says; `data-theme` on the root decides otherwise, where a page has a switch.
LOOK = f""":root{{color-scheme:light dark;{LIGHT}}}
@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{DARK}}}}}
:root[data-theme=dark]{{color-scheme:dark;{DARK}}}
:root[data-theme=light]{{color-scheme:light}}
"""

CSS = f"\n{LOOK}body{{font-family:{FONTS}}}\n" + Path(__file__).with_name("report.css").read_text("utf-8")
