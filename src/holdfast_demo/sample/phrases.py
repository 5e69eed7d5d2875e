"""Exchanges of messages in eleven languages.

An exchange is a few lines that answer each other. A line may have placeholders `{time}`, `{number}` and `{place}`,
which have the same value in all lines of an exchange.
"""

# ruff: noqa: RUF001 -- many scripts share letters that look alike

from typing import Literal

__all__ = ["EMOJI", "EXCHANGES", "LANGUAGES", "PLACES", "Language"]

Language = Literal["en", "de", "es", "fr", "tr", "ru", "ar", "hi", "zh", "ja", "ko"]

LANGUAGES: tuple[Language, ...] = ("en", "de", "es", "fr", "tr", "ru", "ar", "hi", "zh", "ja", "ko")

EXCHANGES: dict[Language, tuple[tuple[str, ...], ...]] = {
    "en": (
        (
            "Who is coming to {place} on Sunday?",
            "Me! Is it the long way round or the short one?",
            "The long one, about {number} kilometres. We start at {time}.",
            "Then I will bring the big thermos flask.",
            "And I will bring plasters. Last time we needed {number}.",
        ),
        (
            "The bus leaves at {time}, please be there five minutes early.",
            "Which stop?",
            "The one by the bakery.",
            "Dangerous. I will be there ten minutes early, then.",
        ),
        (
            "Rain until noon, then it clears up. I would still go.",
            "My boots are wet from last week anyway.",
            "See you at {place} then. Bring a hat.",
        ),
        (
            "We are at the second bench and waiting for the slow ones.",
            "The slow ones are having cake at the first bench.",
            "Save some!",
            "There were {number} pieces. There are none.",
        ),
        (
            "I counted {number} herons by the lake today.",
            "That is a record, isn't it?",
            "One of them may have been a branch.",
            "Still a record. Write it in the book.",
        ),
        (
            "Rehearsal is at {time} on Thursday, in the small hall.",
            "Why the small one?",
            "The big one is being painted. Blue, apparently.",
            "Please practise page {number}, the part after the pause.",
            "I practise the pause. I am very good at the pause.",
        ),
        (
            "The altos were wonderful yesterday!",
            "We had a good view of the sopranos' notes.",
            "Does anyone have the second verse written down?",
            "Page {number}, in pencil, under the coffee stain.",
        ),
        (
            "Grandma asks if you want the blue plates.",
            "All {number} of them?",
            "Eleven. One fell. Nobody saw anything.",
            "Tell her yes, and tell her thank you.",
        ),
        (
            "Dinner at {time}? I am making soup.",
            "What kind?",
            "The kind that is ready at {time}.",
            "Perfect, I will bring bread.",
        ),
        (
            "The little one lost a tooth and is very proud.",
            "Which one?",
            "The wobbly one, at school, during sums.",
            "Tell her she gets {number} coins from her uncle.",
        ),
        (
            "Did you water the tomatoes?",
            "I did, and so did the rain, and so did the neighbour.",
            "So they are swimming.",
            "They look happy. We have {number} red ones already.",
        ),
        (
            "The washing machine is making that noise again.",
            "The train noise or the cat noise?",
            "A cat on a train.",
            "I will have a look when I am home, around {time}.",
        ),
        (
            "Happy birthday! May the cake be large and the candles few.",
            "Thank you! There were {number} candles and one fire alarm.",
            "A success, then.",
        ),
        (
            "The meeting moved to {time}, same room.",
            "Thank you. Do we have the figures?",
            "I left {number} comments, most of them are small.",
            "I saw. The large one is right, I will change it.",
            "Looks good to me now. Thank you for taking the time.",
        ),
        (
            "The printer on the third floor is out of paper.",
            "It is not out of paper, it is on holiday.",
            "Since when?",
            "Page {number}.",
        ),
        (
            "I can take the early shift tomorrow if that helps.",
            "It would help a lot. I owe you a coffee.",
            "You owe me {number} coffees, but who counts.",
        ),
        (
            "Somebody left a green umbrella at {place}.",
            "Mine is green!",
            "This one has ducks on it.",
            "Mine has ducks on it. I did not want to say so.",
        ),
        (
            "I am on the train, we stopped in the middle of nowhere.",
            "What does nowhere look like?",
            "{number} cows and a fence.",
            "Then you are nearly home. I will fetch you at {time}.",
        ),
    ),
    "de": (
        (
            "Wer kommt am Sonntag mit nach {place}?",
            "Ich! Wann geht es los?",
            "Der Zug fährt um {time} von Gleis {number}.",
            "Ich bringe Kuchen mit, ihr bringt den Hunger mit.",
        ),
        (
            "Probe ist am Dienstag um {time} im Gemeindehaus.",
            "Was singen wir?",
            "Bitte Seite {number} noch einmal üben, vor allem die Tenöre.",
            "Die Tenöre üben immer. Man hört es nur nicht.",
        ),
        (
            "Hat jemand meine blaue Trinkflasche gesehen?",
            "Die mit dem Aufkleber?",
            "Ja, mit dem Igel.",
            "Der Igel wohnt jetzt bei uns in der Küche. Ich bringe ihn mit.",
        ),
        (
            "Oma lässt euch alle ganz lieb grüßen.",
            "Danke! Wie geht es ihr?",
            "Gut. Sie hat {number} Gläser Marmelade gekocht und sucht Abnehmer.",
            "Hier! Wir! Sofort!",
        ),
        (
            "Es regnet in Strömen, aber wir sind ja nicht aus Zucker.",
            "Ich schon, ein bisschen.",
            "Dann nimm den großen Schirm. Treffpunkt {place}, {time}.",
        ),
        (
            "Ich habe die Straße gefunden, aber nicht das Haus.",
            "Nummer {number}, das mit der grünen Tür.",
            "Hier sind alle Türen grün.",
            "Dann winke ich aus dem Fenster.",
        ),
        (
            "Können wir das morgen kurz besprechen?",
            "Gern, um {time} in der Teeküche?",
            "Passt. Ich bringe die Zahlen mit.",
        ),
        (
            "Fußball um {time}? Der Platz ist frei.",
            "Wir sind erst {number} Leute.",
            "Dann spielen wir eben mit großen Lücken.",
        ),
    ),
    "es": (
        (
            "¿Quién viene el domingo a {place}?",
            "¡Yo! ¿A qué hora salimos?",
            "El autobús sale a las {time}, no lleguéis tarde.",
            "Yo llevo la tortilla.",
        ),
        (
            "He comprado {number} entradas para el concierto.",
            "¡Qué bien! ¿Cuánto te debo?",
            "Una cena y ya está.",
        ),
        (
            "La abuela pregunta si queréis más naranjas.",
            "Todavía nos quedan {number}.",
            "Pues ya va otra caja en camino.",
        ),
        (
            "¿Alguien ha visto mis gafas?",
            "¿Has mirado en la cabeza?",
            "Jajaja, tienes toda la razón.",
        ),
        (
            "El niño ya sabe montar en bicicleta.",
            "¡Bravo! ¿Y sabe frenar?",
            "Eso lo vemos el lunes.",
        ),
        (
            "Estoy en la puerta, ¿me abres?",
            "¿En qué puerta? Yo también estoy en la puerta.",
            "En la del número {number}.",
            "Ah. Espera, que bajo la calle.",
        ),
    ),
    "fr": (
        (
            "Qui vient dimanche à {place} ?",
            "Moi ! On part à quelle heure ?",
            "Le train part à {time}, voie {number}.",
            "Je prépare une tarte aux pommes pour la route.",
        ),
        (
            "Quelqu'un a-t-il une tente à prêter ?",
            "J'en ai une, mais il manque {number} piquets.",
            "Parfait, on prendra des fourchettes.",
        ),
        (
            "Il neige déjà là-haut, prenez vos gants.",
            "Et la luge ?",
            "Surtout la luge !",
        ),
        (
            "Le petit a dessiné une girafe, ou peut-être un pont.",
            "C'est une girafe qui fait le pont.",
            "Je l'ai accrochée au frigo, à côté des {number} autres.",
        ),
        (
            "La répétition commence à {time}, comme d'habitude.",
            "Je serai un peu en retard, commencez sans moi.",
            "Sans toi il n'y a pas de basse.",
            "Alors chantez haut.",
        ),
        (
            "J'ai laissé les clés chez la voisine.",
            "Laquelle ?",
            "Celle qui a {number} chats.",
        ),
    ),
    "tr": (
        (
            "Pazar günü {place} tarafına kim geliyor?",
            "Ben! Kaçta çıkıyoruz?",
            "Otobüs saat {time} gibi kalkıyor, geç kalmayın.",
            "Poğaçalar benden.",
        ),
        (
            "Pazardan {number} kilo elma aldım.",
            "O kadar elmayı ne yapacağız?",
            "Reçel. Çok reçel.",
        ),
        (
            "Koro çalışması perşembe günü saat {time}.",
            "Hangi şarkıyı söylüyoruz?",
            "Bu şarkıyı çok seviyorum dediğin şarkıyı.",
        ),
        (
            "Çay demledim, bekliyorum.",
            "Yoldayım, {number} dakikaya oradayım.",
            "Soğumadan gel.",
        ),
        (
            "Küçük kuzen bugün okula başladı.",
            "Ağladı mı?",
            "O değil, annesi ağladı.",
        ),
    ),
    "ru": (
        (
            "Кто в воскресенье идёт на {place}?",
            "Я! Во сколько выходим?",
            "Автобус отходит в {time}, не опаздывайте.",
            "Я возьму {number} бутербродов, хватит на всех.",
        ),
        (
            "Репетиция в четверг в {time}, в малом зале.",
            "А почему не в большом?",
            "Там красят стены.",
        ),
        (
            "Бабушка передаёт всем привет и варенье.",
            "Какое?",
            "Вишнёвое, {number} банок.",
            "Выезжаю немедленно.",
        ),
        (
            "Кто-нибудь видел мой зелёный шарф?",
            "Его видел кот. Он на нём спит.",
            "Пусть спит, не будите.",
        ),
        (
            "Поезд опаздывает, как всегда.",
            "Надолго?",
            "Обещают {number} минут.",
            "Ставлю чайник.",
        ),
    ),
    "ar": (
        (
            "من سيأتي يوم الأحد إلى {place}؟",
            "أنا! متى ننطلق؟",
            "الحافلة تغادر الساعة {time}، لا تتأخروا.",
            "سأحضر الشاي والكعك.",
        ),
        (
            "اشتريت {number} كيلو من التفاح.",
            "كل هذا؟",
            "جدتي ستصنع المربى.",
        ),
        (
            "هل رأى أحد نظارتي؟",
            "هل بحثت على رأسك؟",
            "وجدتها، شكرا!",
        ),
        (
            "أرسلت لك ملف PDF، هل وصل؟",
            "نعم وصل، {number} صفحة.",
            "سنتحدث عنه غدا الساعة {time}.",
        ),
        (
            "الصغيرة رسمت قطة اليوم.",
            "جميلة جدا! أم هو جمل؟",
            "هي تقول إنها قطة.",
        ),
    ),
    "hi": (
        (
            "रविवार को {place} कौन चल रहा है?",
            "मैं! कितने बजे निकलना है?",
            "बस {time} बजे निकलेगी, देर मत करना।",
            "मैं {number} समोसे लाऊँगा।",
        ),
        (
            "किसी ने मेरा छाता देखा है?",
            "कौन सा, नीला वाला?",
            "हाँ, वही।",
            "वह मेरे पास है, बारिश में काम आया।",
        ),
        (
            "चाय तैयार है, जल्दी आओ।",
            "{number} मिनट में पहुँच रहा हूँ।",
            "बिस्कुट भी हैं।",
        ),
        (
            "अभ्यास गुरुवार को {time} बजे है।",
            "कौन सा गाना?",
            "वही जो नानी को पसंद है।",
        ),
    ),
    "zh": (
        (
            "周日谁去{place}？",
            "我去！几点出发？",
            "公交车{time}出发，别迟到。",
            "我带{number}个苹果，大家一起吃。",
        ),
        (
            "有人看到我的蓝色雨伞吗？",
            "是不是有小鸭子的那把？",
            "对，就是那把。",
            "在我家，明天带给你。",
        ),
        (
            "周四{time}在小礼堂排练。",
            "唱哪一首？",
            "第{number}页那首。",
        ),
        (
            "孩子今天学会骑自行车了。",
            "太好了！摔了几次？",
            "只摔了{number}次。",
        ),
    ),
    "ja": (
        (
            "日曜日、{place}に行く人はいますか？",
            "行きます！何時に出ますか？",
            "バスは{time}に出ます。遅れないでね。",
            "おにぎりを{number}個作っていきます。",
        ),
        (
            "青い傘を見ませんでしたか？",
            "アヒルの絵のですか？",
            "そうです。",
            "うちにあります。明日持っていきますね。",
        ),
        (
            "練習は木曜日の{time}からです。",
            "どの曲ですか？",
            "{number}ページの曲です。いい歌ですよね。",
        ),
        (
            "お誕生日おめでとう！",
            "ありがとう！ろうそくが{number}本もありました。",
            "きれいだったでしょうね。",
        ),
    ),
    "ko": (
        (
            "일요일에 {place}에 누가 가요?",
            "저요! 몇 시에 출발해요?",
            "버스는 {time}에 출발해요. 늦지 마세요.",
            "김밥 {number}줄 싸 갈게요.",
        ),
        (
            "제 파란 우산 보신 분 있나요?",
            "오리 그림 있는 거요?",
            "네, 그거요!",
            "우리 집에 있어요. 내일 가져갈게요.",
        ),
        (
            "연습은 목요일 {time}이에요.",
            "무슨 노래예요?",
            "{number}쪽에 있는 노래요.",
        ),
        (
            "생일 축하해요!",
            "고마워요! 케이크가 정말 맛있었어요.",
            "다음에는 같이 먹어요.",
        ),
    ),
}

PLACES: dict[Language, tuple[str, ...]] = {
    "en": ("Crow Rock", "Heron Lake", "Mill Bridge", "Fern Valley", "the Old Kiln", "Juniper Hill"),
    "de": ("Krähenstein", "Reihersee", "Mühlbrück", "Farntal", "Wacholderberg"),
    "es": ("Peña del Cuervo", "la Laguna Verde", "el Molino Viejo", "Valdehelecho"),
    "fr": ("la Roche aux Corbeaux", "l'étang du Héron", "Pont-du-Moulin", "la vallée des Fougères"),
    "tr": ("Kargakaya", "Balıkçıl Gölü", "Değirmenköprü", "Ardıçtepe"),
    "ru": ("Воронью скалу", "Цаплино озеро", "Мельничный мост", "Можжевеловую горку"),
    "ar": ("صخرة الغراب", "بحيرة البلشون", "جسر الطاحونة", "وادي السرخس"),
    "hi": ("कौआ चट्टान", "बगुला झील", "पनचक्की पुल", "फर्न घाटी"),
    "zh": ("乌鸦岩", "白鹭湖", "磨坊桥", "蕨谷"),
    "ja": ("からす岩", "さぎ湖", "水車橋", "しだの谷"),
    "ko": ("까마귀바위", "왜가리호수", "물레방아다리", "고사리골"),
}

EMOJI: tuple[str, ...] = (
    "👍",
    "😂",
    "❤️",
    "🎉",
    "🙏",
    "😊",
    "👋🏽",
    "🥾",
    "🎶",
    "🍰",
    "☔",
    "🏔️",
    "👨‍👩‍👧‍👦",
    "🏳️‍🌈",
    "🧑🏿‍🍳",
    "🇪🇺",
)
