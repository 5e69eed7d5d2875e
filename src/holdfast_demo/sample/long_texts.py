"""Texts that are too long for a message body."""

from holdfast_demo.sample.phrases import EXCHANGES, PLACES, Language

__all__ = ["LONG_TEXTS"]

HIKE = """\
Dear all, here is the promised report of our walk to Crow Rock, for those who were there and for those who \
stayed in bed.

We met at the station at half past seven. Eleven of us had said yes, nine came, and two more were found asleep \
on the train when we got in. The weather forecast had promised sun from ten o'clock. At ten o'clock it began \
to rain.

The first hour goes along the river, past the old mill and the three willows. The path is wide there and one \
can talk, so everybody did. At the footbridge we counted ourselves and were twelve. It took us some time to \
notice that a gentleman who was only walking his dog had joined us and was too polite to leave.

Behind the bridge the climb begins. It is not steep, but it is long, and the stones are smooth. We took it \
slowly, with a rest at each of the four benches. At the second bench the sandwiches were opened, at the third \
bench the thermos flasks, and at the fourth bench somebody asked whether anyone had brought the map. It was on \
the kitchen table, where it is safe and dry.

Without a map one sees more of the country. We saw the quarry, which is not on our route, and the quarry's \
other side, which is not on our route either. A farmer on a tractor told us that Crow Rock is behind us, and \
that we must have walked past it, since it is hard to miss. He was right on both counts.

The view from the top is worth everything. One looks over the whole of Fern Valley, with Heron Lake at the far \
end, and on clear days to the sea. It was not a clear day, but we know what the sea looks like, and we \
described it to one another. The crows were at home and had opinions about our cake.

On the way down the sun came out, as promised, only seven hours late. We sang most of the second half of the \
spring programme, in four voices and at times in five keys. The gentleman with the dog turned out to be a \
bass. He starts on Thursday.

Nobody was lost, one umbrella was left behind, and two were found. The blisters are healing. Next month we \
walk to Juniper Hill, and I have put the map in my rucksack already. Please let me know by Sunday who is \
coming, who needs a seat in a car, and who still has my blue thermos flask.

With stiff legs and warm greetings,
your secretary
"""

CHOIR = """\
Liebe Sängerinnen und Sänger,

das Sommerkonzert ist vorbei, die Stühle sind gestapelt, die Blumen stehen in Wassereimern, und ich möchte \
euch danken, bevor der Alltag uns wieder einholt. Als wir im Herbst mit den ersten Noten anfingen, war ich mir \
nicht sicher, ob wir das große Stück in einem Jahr schaffen. Ihr habt mich eines Besseren belehrt.

Der Saal war voll bis auf den letzten Platz, und auf den letzten Platz hat sich später noch jemand \
dazugesetzt. Der Sopran hat geleuchtet, der Alt hat getragen, der Tenor hat fast immer gezählt, und der Bass \
hat uns daran erinnert, dass auch leise Töne einen Boden haben. Die Stelle nach der langen Pause, die wir so \
oft geübt haben, saß auf den Punkt genau. Ich habe in der ersten Reihe drei Taschentücher gezählt.

Dass in der zweiten Hälfte für einen Moment das Licht ausging, hat niemand im Publikum als Panne verstanden. \
Alle dachten, das gehöre dazu. Im Dunkeln habt ihr ohne Noten weitergesungen, acht ganze Takte lang, und als \
das Licht wiederkam, wart ihr immer noch zusammen. Das kann man nicht proben.

Mein besonderer Dank gilt denen, die man nicht gesehen hat: dem Mann am Lichtschalter, der Nachbarin, die \
vierzig Stühle geliehen hat, den Kindern, die Programme verteilt und selbst bemalt haben, und der Bäckerei an \
der Ecke, die uns die Brezeln vom Vortag überließ. Sie waren vom selben Tag, aber das durfte ich niemandem \
sagen.

Einige praktische Dinge zum Schluss. Wer noch Noten hat, bringt sie bitte bis Ende des Monats zurück, auch die \
mit den Kaffeeflecken. Die grüne Mappe ohne Namen liegt bei mir. Die Einnahmen reichen für ein neues \
Klavierpedal und für das Herbstwochenende am Reihersee. Die erste Probe nach den Ferien ist am ersten Dienstag \
im September, wie immer im Gemeindehaus, und wie immer mit Kuchen. Wir beginnen mit etwas Leichtem.

Und noch etwas: Wir suchen zwei Tenöre. Sie müssen keine Noten lesen können, nur Uhren, und sie sollten gern \
lachen. Wer jemanden kennt, der unter der Dusche singt, frage bitte freundlich nach.

Bis dahin wünsche ich euch einen hellen Sommer, ausgeschlafene Stimmen und viele Gelegenheiten, beim Abwaschen \
zu singen.

Herzlich
eure Chorleiterin
"""


def numbered_lines(language: Language) -> str:
    """Return numbered lines of exchanges, long enough to be stored as a file."""
    lines = [line for exchange in EXCHANGES[language] for line in exchange]
    places = PLACES[language]
    entries: list[str] = []
    size = 0
    while size <= 2400:
        count = len(entries)
        hour = f"{8 + count % 12}:30"
        filled = lines[count % len(lines)].format(time=hour, number=count + 2, place=places[count % len(places)])
        entries.append(f"{count + 1}. {filled}")
        size += len(entries[-1].encode()) + 1
    return "\n".join(entries)


LONG_TEXTS: tuple[str, ...] = (
    HIKE,
    CHOIR,
    numbered_lines("ru"),
    numbered_lines("ar"),
    numbered_lines("ja"),
    numbered_lines("hi"),
)
