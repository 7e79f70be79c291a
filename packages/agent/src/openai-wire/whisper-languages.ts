/** Languages as whisper writes them, in English, and as OpenAI's API has them, in ISO 639. */

/** Null for a language that is none of whisper's; a code stays as it is. */
export function languageCode(language: string): string | null {
  const known = language.trim().toLowerCase().replaceAll(' ', '-');
  return CODES.get(known) ?? (KNOWN.has(known) ? known : null);
}

/** whisper's own list, with spaces as hyphens; a code may have several names. */
const LANGUAGES = `
  af:afrikaans am:amharic ar:arabic as:assamese az:azerbaijani ba:bashkir be:belarusian bg:bulgarian
  bn:bengali bo:tibetan br:breton bs:bosnian ca:catalan ca:valencian cs:czech cy:welsh da:danish
  de:german el:greek en:english es:spanish es:castilian et:estonian eu:basque fa:persian fi:finnish
  fo:faroese fr:french gl:galician gu:gujarati ha:hausa haw:hawaiian he:hebrew hi:hindi hr:croatian
  ht:haitian-creole ht:haitian hu:hungarian hy:armenian id:indonesian is:icelandic it:italian
  ja:japanese jw:javanese ka:georgian kk:kazakh km:khmer kn:kannada ko:korean la:latin
  lb:luxembourgish lb:letzeburgesch ln:lingala lo:lao lt:lithuanian lv:latvian mg:malagasy mi:maori
  mk:macedonian ml:malayalam mn:mongolian mr:marathi ms:malay mt:maltese my:myanmar my:burmese
  ne:nepali nl:dutch nl:flemish nn:nynorsk no:norwegian oc:occitan pa:punjabi pa:panjabi pl:polish
  ps:pashto ps:pushto pt:portuguese ro:romanian ro:moldavian ro:moldovan ru:russian sa:sanskrit
  sd:sindhi si:sinhala si:sinhalese sk:slovak sl:slovenian sn:shona so:somali sq:albanian sr:serbian
  su:sundanese sv:swedish sw:swahili ta:tamil te:telugu tg:tajik th:thai tk:turkmen tl:tagalog
  tr:turkish tt:tatar uk:ukrainian ur:urdu uz:uzbek vi:vietnamese yi:yiddish yo:yoruba yue:cantonese
  zh:chinese zh:mandarin
`;

const PAIRS = [...LANGUAGES.matchAll(/(\S+):(\S+)/g)].map(([, code = '', name = '']) => {
  return { code, name };
});
/** By name. */
const CODES: ReadonlyMap<string, string> = new Map(PAIRS.map(({ code, name }) => [name, code]));
const KNOWN: ReadonlySet<string> = new Set(PAIRS.map(({ code }) => code));
