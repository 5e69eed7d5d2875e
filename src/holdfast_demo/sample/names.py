"""Fictional names of people and groups."""

# ruff: noqa: RUF001 -- many scripts share letters that look alike

from dataclasses import dataclass

from holdfast_demo.sample.phrases import Language

__all__ = ["FAMILY_NAMES", "GIVEN_NAMES", "GROUP_TEMPLATES", "GroupTemplate"]

GIVEN_NAMES: dict[Language, tuple[str, ...]] = {
    "en": ("Alder", "Bryony", "Clement", "Daisy", "Edmund", "Fern", "Gideon", "Hazel", "Ivo", "Juniper"),
    "de": ("Annika", "Bertram", "Cordula", "Detlef", "Edeltraud", "Falk", "Gesine", "Hanno", "Jördis", "Knut"),
    "es": ("Amparo", "Benito", "Consuelo", "Dionisio", "Elvira", "Fermín", "Graciela", "Íñigo"),
    "fr": ("Aurélie", "Barnabé", "Capucine", "Désiré", "Éloïse", "Firmin", "Garance", "Hyacinthe"),
    "tr": ("Aslı", "Bülent", "Çiğdem", "Doğan", "Elif", "Fırat", "Gülşen", "İlker"),
    "ru": ("Агафья", "Борис", "Варвара", "Глеб", "Евдокия", "Захар", "Лидия", "Тимофей"),
    "ar": ("أمينة", "باسم", "جميلة", "حسان", "سلمى", "طارق", "ليلى", "نبيل"),
    "hi": ("अनन्या", "भरत", "चित्रा", "देवेश", "गौरी", "हरीश", "कविता", "मोहन"),
    "zh": ("小兰", "大勇", "春燕", "志强", "秋月", "文博"),
    "ja": ("あかね", "いつき", "さくら", "たける", "はるか", "みのる"),
    "ko": ("가람", "나래", "다솜", "마루", "보람", "하늘"),
}

FAMILY_NAMES: dict[Language, tuple[str, ...]] = {
    "en": ("Ashdown", "Brook", "Copperfield", "Dale", "Everwood", "Fairweather", "Greenhalgh"),
    "de": ("Apfelbaum", "Birnstiel", "Eichengrün", "Fröhlich", "Haselbach", "Käsmann", "Möwe"),
    "es": ("Arroyo", "Bosque", "Cumbre", "Delmar", "Piedralta", "Vallehermoso"),
    "fr": ("Beauchemin", "Clairval", "Fontaine", "Laforge", "Montrond", "Rivière"),
    "tr": ("Akçay", "Bulut", "Çınar", "Gökdağ", "Irmak", "Yıldızlı"),
    "ru": ("Берёзова", "Ветрова", "Журавлёв", "Лесной", "Озёрова", "Снегирёв"),
    "ar": ("البحري", "الجبلي", "الزهراوي", "النجار", "الوادي"),
    "hi": ("अम्बर", "चंदन", "नदीवाल", "पर्वत", "सागर"),
    "zh": ("白", "江", "林", "云", "石"),
    "ja": ("青木", "川原", "小森", "星野", "山辺"),
    "ko": ("강", "들", "솔", "하"),
}


@dataclass(frozen=True, slots=True)
class GroupTemplate:
    """The title, description and languages of a group; a more common language occurs more often."""

    title: str
    description: str
    languages: tuple[Language, ...]


GROUP_TEMPLATES: tuple[GroupTemplate, ...] = (
    GroupTemplate("Crow Rock Hiking Club 🥾", "Every second Sunday, in any weather.", ("en", "en", "de", "fr")),
    GroupTemplate("Familie & family", "Pictures, recipes, who fetches whom.", ("de", "en", "es")),
    GroupTemplate("Office kitchen", "Lunch at half past twelve <sharp>.", ("en",)),
    GroupTemplate("Chor am Reihersee 🎶", "Probe dienstags. Bitte Bleistift mitbringen.", ("de",)),
    GroupTemplate("Viaje de verano", "Ideas, billetes y fotos.", ("es", "en")),
    GroupTemplate("Çay saati", "Her gün beşte.", ("tr",)),
    GroupTemplate("Книжный кружок", "Один роман в месяц.", ("ru",)),
    GroupTemplate("عائلة الوادي", "أخبار وصور", ("ar", "en")),
    GroupTemplate("किताबों की बातें", "हर महीने एक किताब।", ("hi", "en")),
    GroupTemplate("周末爬山", "风雨无阻。", ("zh",)),
    GroupTemplate("写真部", "毎週一枚。", ("ja", "en")),
    GroupTemplate("등산 모임", "매달 첫째 토요일.", ("ko",)),
    GroupTemplate("Le jardin partagé", "Qui arrose quand ?", ("fr",)),
    GroupTemplate("House no. 12", "Stairs, parcels, bicycles.", ("en", "de", "tr")),
)
