// The override rule in languages other than English; patterns are written without Latin diacritics, as text is folded.
import { oneOf, type Rule, type RuleGroup } from './rule.ts'

/** Verb, words in between, what is dropped; `verbLast` for languages that put the verb at the end. */
interface Grammar {
  readonly language: string
  /** Stems of the verbs, one of which every match contains. */
  readonly anchors: string
  readonly drop: string
  readonly orders: string
  readonly earlier: string
  readonly between: string
  readonly verbLast?: true
  /** "Everything you were told". */
  readonly told?: string
}

const SPACED = String.raw`[^.!?;\n]*`
const UNSPACED = String.raw`[^.!?。！？,、，\n]*`

const GRAMMARS: readonly Grammar[] = [
  {
    language: 'es',
    told: String.raw`todo lo que (?:te|se te|le) (?:han|he|ha|hayan|dijeron|dije) ?(?:dicho|ordenado|pedido)?`,
    anchors: 'olvid|descarta|caso omiso|no sigas|pasa por alto',
    drop: 'ignor(?:a|e|ar|ad|en)|olvid(?:a|e|ate|ese|ar|en)|descarta|haz caso omiso de|no sigas|pasa por alto',
    orders: 'instruccion(?:es)?|indicaciones|ordenes|reglas|directrices|directivas',
    earlier:
      'anterior(?:es)?|previas?|precedentes|de arriba|todas (?:las|tus|sus)|tus|que te (?:dieron|han dado)',
    between: SPACED,
  },
  {
    language: 'pt',
    told: String.raw`tudo o que (?:te|lhe|voce|foi) ?(?:foi|disseram|disse|dito|aprendeu)`,
    anchors: 'esque|desconsider|despreze|nao siga',
    drop: 'ignor(?:e|a|ar|em)|esquec(?:a|er|am)|desconsider(?:e|a|ar)|despreze|nao siga',
    orders: 'instruc(?:oes|ao)|orientacoes|ordens|regras|diretrizes|comandos',
    earlier: 'anterior(?:es)?|previas|precedentes|acima|todas as|suas',
    between: SPACED,
  },
  {
    language: 'fr',
    told: String.raw`tout ce (?:qu'on|que l'on|que je|qui|que vous) (?:t'a|vous a|t'ai|a ete|avez)[^.!?\\n]*(?:dit|demande|recu|ordonne)`,
    anchors: 'oubli|ne tien|abstraction|neglig',
    drop: 'ignor(?:e|ez|er|ons)|oubli(?:e|ez|er)|ne tien(?:s|ez) pas compte|fais abstraction|neglig(?:e|ez)',
    orders: 'instructions?|consignes|directives|ordres|regles|indications',
    earlier: 'precedentes?|anterieure?s?|ci-dessus|prealables|toutes (?:les|tes|vos)|tes|vos',
    between: SPACED,
  },
  {
    language: 'it',
    told: String.raw`tutto (?:cio|quello) che (?:ti|vi) (?:e stato|hanno|ho) (?:detto|ordinato|chiesto)`,
    anchors: 'dimentic|trascura|non seguire|tralascia',
    drop: 'ignor(?:a|i|are|ate)|dimentic(?:a|hi|are|ate)|trascura|non seguire|tralascia',
    orders: 'istruzion[ei]|indicazioni|ordini|regole|direttive',
    earlier: 'precedent[ei]|anterior[ei]|sopra|tutte le|tue',
    between: SPACED,
  },
  {
    language: 'de',
    told: String.raw`alles,? was (?:dir|ihnen|man dir|ich dir) (?:bisher |vorher |zuvor )?(?:gesagt|befohlen|aufgetragen)`,
    anchors: 'vergiss|vergess|missacht|nicht beacht|ubergehe|beachte',
    drop: 'ignorier(?:e|en|t)|vergiss|vergessen|missacht(?:e|en)|nicht beachten|ubergehe|beachte',
    orders: 'anweisung(?:en)?|instruktion(?:en)?|befehle?n?|vorgaben|regeln|anordnungen',
    earlier:
      'vorherigen?|vorigen?|bisherigen?|fruheren|obigen?|vorangegangenen?|vorangehenden|alle(?:n)? (?:deine|ihre)|deine',
    between: SPACED,
  },
  {
    language: 'nl',
    anchors: 'negeer|vergeet|sla over',
    drop: 'negeer|vergeet|sla over',
    orders: 'instructies?|opdrachten|aanwijzingen|regels|bevelen',
    earlier: 'vorige|eerdere|voorgaande|bovenstaande|alle(?: je| uw)?|je',
    between: SPACED,
  },
  {
    language: 'sv',
    anchors: 'glom|bortse|strunta|glem|se bort',
    drop: 'ignorera|glom|bortse fran|strunta i|ignorer|glem|se bort fra',
    orders: 'instruktion(?:er|erna)?|anvisningar|instruks(?:er|jon|joner|jonene)|regler(?:na)?',
    earlier: 'tidigare|foregaende|ovanstaende|alla|tidligere|forrige|foregaende|ovenstaende|alle',
    between: SPACED,
  },
  {
    language: 'pl',
    anchors: 'ignoruj|zapomnij|pomin',
    drop: 'zignoruj(?:cie)?|ignoruj(?:cie)?|zapomnij(?:cie)?|pomin',
    orders: 'instrukcj[eiaą]|polece(?:nia|n)|wytyczn[ey]ch|wytyczne|zasady|rozkazy',
    earlier: 'poprzedni(?:e|ch)|wczesniejsz(?:e|ych)|powyzsz(?:e|ych)|wszystki(?:e|ch)|swoje',
    between: SPACED,
  },
  {
    language: 'ru',
    told: String.raw`вс[её],? что (?:тебе|вам) (?:говорили|сказали|было сказано|велели)`,
    anchors: 'игнориру|забудь|обращаи|пренебрегаи|отмени',
    drop: 'игнорируи(?:те)?|проигнорируи(?:те)?|забудь(?:те)?|не обращаи(?:те)? внимания на|пренебрегаи(?:те)?|отмени(?:те)?',
    orders: 'инструкци(?:и|ю|я|ями)|указани(?:я|е)|команды|правила|распоряжения|директивы',
    earlier:
      'предыдущи(?:е|х|ми)|прежни(?:е|х)|предшествующие|вышеуказанные|вышеизложенные|все(?: свои| ваши| твои)?|свои|ваши|твои',
    between: SPACED,
  },
  {
    language: 'uk',
    anchors: 'ігнору|забудь|зважаи',
    drop: 'ігноруи(?:те)?|проігноруи(?:те)?|забудь(?:те)?|не зважаи(?:те)? на',
    orders: 'інструкці[іїю]|вказівки|команди|правила|настанови',
    earlier: 'попередні|минулі|вищезазначені|усі|всі|своі|ваші',
    between: SPACED,
  },
  {
    language: 'tr',
    anchors: 'yok say|yoksay|unut|gormezden|goz ardi|dikkate alma|onemseme',
    drop: 'yok ?say(?:in)?|unut(?:un)?|gormezden gel(?:in)?|goz ardi et|dikkate alma(?:yin)?|onemseme',
    orders:
      'talimat(?:lari|larini|larinizi|i)?|yonerge(?:leri|lerini)?|komut(?:lari|larini)?|kural(?:lari|larini)',
    earlier: 'onceki|daha onceki|yukaridaki|tum|butun',
    between: SPACED,
    verbLast: true,
  },
  {
    language: 'id',
    anchors: 'abaikan|lupakan|hiraukan|jangan ikuti|acuhkan',
    drop: 'abaikan|lupakan|hiraukan|jangan ikuti|acuhkan',
    orders: 'instruksi|perintah|petunjuk|arahan|aturan',
    earlier: 'sebelumnya|terdahulu|di atas|semua|anda|kamu',
    between: SPACED,
  },
  {
    language: 'tl',
    anchors: 'pansinin|walain|kalimutan|huwag|walang-bahala',
    drop: 'huwag pansinin|balewalain|kalimutan|huwag sundin|ipagwalang-bahala|isawalang-bahala|bale-walain',
    orders: 'tagubilin|utos|instruksyon|panuto|mga tuntunin|direktiba',
    earlier: 'nauna(?:ng)?|nakaraan(?:g)?|lahat|iyong|dating|dati',
    between: SPACED,
  },
  {
    language: 'vi',
    anchors: 'bo qua|quen di|quen cac|quen tat|quen nhung|phot lo|khong tuan',
    drop: 'bo qua|quen|phot lo|khong tuan theo',
    orders: 'huong dan|chi dan|chi thi|lenh|quy tac|yeu cau',
    earlier: 'truoc(?: do| day)?|ben tren|o tren|tat ca|cua ban',
    between: SPACED,
  },
  {
    language: 'ar',
    anchors: 'تجاهل|انس|إنس|اغفل|أهمل|لا تتبع|تغاضى',
    drop: 'تجاهل(?:ي|وا)?|انس(?:ى|ي|َ)?|إنس|اغفل|أهمل|لا تتبع|تغاضى عن',
    orders: 'التعليمات|تعليمات|تعليماتك|الأوامر|أوامر|التوجيهات|الإرشادات|القواعد|الاوامر',
    earlier: 'السابقة|السابقه|أعلاه|المذكورة|جميع|كل|كافة',
    between: SPACED,
  },
  {
    language: 'fa',
    anchors: 'نادیده|فراموش|پوشی',
    drop: 'نادیده بگیر(?:ید)?|فراموش کن(?:ید)?|چشم ?پوشی کن(?:ید)?|نادیده گرفته',
    orders: 'دستورالعمل ?(?:ها|های|هایی)?|دستورات|دستور(?:های)?|فرمان ?ها(?:ی)?',
    earlier: 'قبلی|پیشین|بالا|همه|تمام',
    between: SPACED,
    verbLast: true,
  },
  {
    language: 'he',
    anchors: 'התעל|שכח',
    drop: 'התעלם|התעלמי|התעלמו|שכח|תשכח',
    orders: 'ההוראות|הוראות|ההנחיות|הנחיות|הפקודות',
    earlier: 'הקודמות|קודמות|לעיל|כל',
    between: SPACED,
  },
  {
    language: 'hi',
    told: String.raw`आपको (?:बताया|कहा|निर्देश)[^।.!?\\n]*`,
    anchors: 'अनदेखा|नजर|नज़र|भूल|अवहेलना|उपेक्षा|ध्यान',
    drop: 'अनदेखा कर(?:ें|ो|े)?|नजरअंदाज कर(?:ें|ो)?|नज़रअंदाज़ कर(?:ें|ो)?|भूल ?जा(?:ओ|एं|एँ|इए)|अवहेलना कर(?:ें|ो)|उपेक्षा कर(?:ें|ो)|ध्यान न दें',
    orders: 'निर्देश(?:ों)?|आदेश(?:ों)?|अनुदेश(?:ों)?|नियम(?:ों)?',
    earlier: 'पिछले|पिछली|पूर्व|पहले|उपरोक्त|सभी|अपने',
    between: SPACED,
    verbLast: true,
  },
  {
    language: 'bn',
    told: String.raw`আপনাকে যা বলা হয়েছে(?: তা)?`,
    anchors: 'উপেক্ষা|ভুলে|অগ্রাহ্য|এড়িয়ে',
    drop: 'উপেক্ষা কর(?:ুন|ো)?|ভুলে য(?:ান|াও)|অগ্রাহ্য কর(?:ুন|ো)?|এড়িয়ে যান',
    orders: 'নির্দেশ(?:নাবলী|াবলী|না|গুলি|গুলো|নাগুলি|নাগুলো)?|আদেশ',
    earlier: 'আগের|পূর্ববর্তী|পূর্বের|সমস্ত|সব|আপনার',
    between: SPACED,
    verbLast: true,
  },
  {
    language: 'zh',
    anchors: '忽略|无视|無視|忽視|忘|不要|别管|不理',
    drop: '忽略|无视|無視|忽視|忘记|忘掉|忘記|不要理会|不要遵循|别管|不理会',
    orders: '指令|指示|说明|說明|提示|命令|规则|規則|要求|指引',
    earlier: '之前|以上|先前|上述|前面|此前|所有|上面|以前|一切',
    between: UNSPACED,
  },
  {
    language: 'ja',
    anchors: '無視|忘れ|従わ',
    drop: '無視|忘れ|従わな',
    orders: '指示|命令|指令|プロンプト|ルール|規則|指図',
    earlier: '以前の|これまでの|前の|上記の|先の|事前の|すべての|全ての|今までの|以上の',
    between: UNSPACED,
    verbLast: true,
  },
  {
    language: 'ko',
    anchors: '무시|잊|따르지',
    drop: '무시|잊어|잊으|따르지 마',
    orders: '지시|명령|지침|프롬프트|규칙|안내',
    earlier: '이전|앞선|위의|지금까지|모든|앞의|기존',
    between: UNSPACED,
    verbLast: true,
  },
  {
    language: 'th',
    anchors: 'เพิกเฉย|ละเว้น|ไม่ต้อง|ลืม|สนใจ|ละเลย',
    drop: 'เพิกเฉย|ละเว้น|ไม่ต้องสนใจ|ลืม|อย่าสนใจ|อย่าไปสนใจ|ละเลย|ไม่สนใจ',
    orders: 'คำสั่ง|คําสั่ง|คำแนะนำ|คําแนะนํา|คำชี้แจง|กฎ',
    earlier: 'ก่อนหน้า|ที่ผ่านมา|ข้างต้น|ทั้งหมด|เดิม',
    between: UNSPACED,
  },
]

const LATIN = /^[a-z]/u

function overrideIn(grammar: Grammar): Rule {
  const edge = grammar.between === SPACED && LATIN.test(grammar.drop) ? String.raw`\b` : ''
  const [drop, orders, earlier] = [grammar.drop, grammar.orders, grammar.earlier].map(
    (part) => edge + oneOf(part) + edge,
  )
  const { between } = grammar
  const named = `(?:${earlier}${between}${orders}|${orders}${between}${earlier}${grammar.told === undefined ? '' : `|${grammar.told}`})`
  const pattern = grammar.verbLast ? `${named}${between}${drop}` : `${drop}${between}${named}`
  return {
    id: `override-${grammar.language}`,
    category: 'override',
    effect: 'suspect',
    weight: 0.5,
    pattern,
  }
}

/** Asking for the prompt or the secret, in the languages above that spell the word alike or commonly borrow it. */
const REVEAL_ANCHORS = [
  'system prompt',
  'systemprompt',
  'prompt de',
  'prompt di',
  'prompt do',
  'invite ',
  'systemauf',
  'промпт',
  'istemi',
  '提示',
  'プロンプト',
  '프롬프트',
  'موجه',
]

const REVEAL: Rule = {
  id: 'reveal-any-language',
  category: 'extraction',
  effect: 'suspect',
  weight: 0.5,
  pattern: oneOf(
    `(?:revel[ae]|muestra(?:me)?|dime|mostre|revele|montre|affiche|donne|divulgue|mostra(?:mi)?|rivela|zeige?|verrate|gib|toon|onthul|pokaz|ujawnij|покажи(?:те)?|раскрои(?:те)?|выведи(?:те)?|goster|tampilkan|ungkapkan|显示|显露|透露|輸出|输出|告诉我|表示|教えて|알려|보여|اكشف|اعرض|أظهر)[^.!?。\\n]*
(?:system ?prompt|prompt (?:del |do |de )?sistema|invite (?:du )?systeme|prompt di sistema|systemprompt|systemaufforderung|системн(?:ыи|ого) промпт|sistem istemi|系统提示|系統提示|システムプロンプト|시스템 프롬프트|موجه النظام)`,
  ),
}

export const LANGUAGES: RuleGroup = {
  id: 'languages',
  anchors: [
    'ignor',
    ...REVEAL_ANCHORS,
    ...GRAMMARS.flatMap((grammar) => grammar.anchors.split('|')),
  ],
  rules: [...GRAMMARS.map(overrideIn), REVEAL],
}
