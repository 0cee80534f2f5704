// Finds the lines of a licence that name people: copyright notices, authors, and names beside e-mail addresses.

/** Somebody as the text names them: a name where there is one, and ways to reach them. */
export interface NamedHolder {
  readonly name: string | undefined
  readonly contacts: readonly string[]
}

const EMAIL = String.raw`[\p{L}\p{N}._%+~-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}`
const ADDRESS = String.raw`(?:https?:\/\/|www\.)[^\s<>()\[\]"',;]+`
const DOMAIN = String.raw`(?<=[(<])[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.[a-z]{2,}(?:\/[^\s<>()]*)?(?=[)>])`
const HANDLE = String.raw`(?<![\p{L}\p{N}._%+-])@[\p{L}\p{N}_-]+`
const CONTACT = new RegExp(`${EMAIL}|${ADDRESS}|${DOMAIN}|${HANDLE}`, 'giu')

const MONTHS =
  'january|february|march|april|may|june|july|august|september|october|november|december'
const YEARS = String.raw`(?:(?:\d{4}|<year>|\[yyyy\])(?:\s*[-–—]\s*(?:\d{2,4}|present|now|today)?)?[\s,:]*(?:(?:present|${MONTHS})[\s,-]*(?:present[\s,]*)?)?)`
const NOTICE = new RegExp(
  String.raw`(?:copyright\s*(?:(?:\(c\)|©)[\s:,]*(?:copyright\s*)?${YEARS}*|[:,]?\s*${YEARS}+)|(?:\(c\)|©)\s*${YEARS}+)(?<holders>.+)`,
  'iu',
)
const PLAIN_NOTICE = /(?:^|[\s,("])[Cc]opyright\s+(?:by\s+)?(?<holders>\p{Lu}\p{Ll}.+)/u
const NO_HOLDER =
  /^(?:holders?|notices?|licen[sc]e|grant|owners?|laws?|act|statement|and|in|of|or|interest|treaty|protection)\b/i
const AUTHOR =
  /^(?:authors?|by|maintainers?|created by|written by|original authors?)\s*:\s*(?<holders>.+)$/iu
const BESIDE_EMAIL = new RegExp(
  String.raw`(?<holders>(?:\p{Lu}[\p{L}.'’-]{0,40}\s){1,4}[<(]?${EMAIL})`,
  'gu',
)

/** Everybody whom the text names as holder, author or contact, in the order of the text. */
export function findNamedHolders(text: string): readonly NamedHolder[] {
  return text.split('\n').flatMap(holdersOfLine)
}

// Most lines name nobody, which is cheap to see.
const MAY_NAME = /copyright|\(c\)|©|@|by|author|maintainer/i

function holdersOfLine(line: string): readonly NamedHolder[] {
  if (!MAY_NAME.test(line)) return []
  const notices = line.split(/(?<=[;.])\s+(?=.{0,200}copyright)/i).flatMap(noticeOf)
  const besideEmail = [...line.matchAll(BESIDE_EMAIL)].map((match) => match[0])
  const lists = notices.length > 0 ? notices : besideEmail
  const named = lists.flatMap(splitHolders)
  const known = new Set(named.flatMap(({ contacts }) => contacts))
  const loose = [...line.matchAll(new RegExp(EMAIL, 'giu'))].map(([email]) => email)
  return [...named, ...loose.filter((email) => !known.has(email)).map(onlyContact)]
}

function noticeOf(part: string): string | readonly string[] {
  const match = NOTICE.exec(part) ?? PLAIN_NOTICE.exec(part) ?? AUTHOR.exec(part)
  const holders = match?.groups?.['holders'] ?? ''
  return holders === '' || NO_HOLDER.test(holders) ? [] : holders
}

const onlyContact = (contact: string): NamedHolder => ({ name: undefined, contacts: [contact] })

// What follows the names in the same line, and is no name.
const TAIL =
  /\s*(?:(?<![\p{L}\p{N}])(?:all rights reserved|until|under|from|for|licen[sc]ed|see|listed|via|which|that|is|are|was|were|in the|on the|of the|unless|except|portions|modified work)(?![\p{L}\p{N}])|["“”{]).*$/iu

const NICKNAME = /\s"(?<nickname>\p{L}+)"\s/gu
const COMPANY_COMMA = /,\s+(?=(?:inc|llc|ltd|gmbh|corp)\b)/giu

function splitHolders(list: string): readonly NamedHolder[] {
  const contactsKept: string[] = []
  const marked = list
    .replace(/^\s*["“]/, '')
    .replaceAll(NICKNAME, ' $<nickname> ')
    .replaceAll(CONTACT, (contact) => {
      contactsKept.push(contact.replace(/[.,;]+$/, ''))
      return ` \uE000${contactsKept.length - 1}\uE000 `
    })
  const named: NamedHolder[] = []
  const names = marked.replace(TAIL, '').replaceAll(COMPANY_COMMA, ' ')
  for (const piece of names.split(/[,;/|]|\s(?:and|&|-|–)\s/iu)) {
    const contacts = [...piece.matchAll(/\uE000(\d+)\uE000/g)].flatMap(
      ([, index]) => contactsKept[Number(index)] ?? [],
    )
    const name = cleanName(piece.replaceAll(/\uE000\d+\uE000/g, ' '))
    const previous = named.at(-1)
    if (name !== undefined) named.push({ name, contacts })
    else if (previous === undefined) named.push(...contacts.map(onlyContact))
    else named.splice(-1, 1, { ...previous, contacts: [...previous.contacts, ...contacts] })
  }
  return named
}

function cleanName(piece: string): string | undefined {
  const name = piece
    .replaceAll(/[<>()[\]*`]/g, ' ')
    .replace(/^\s*(?:by|the)\s+/iu, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[\s\d.:,'-]+|[\s:,'-]+$|(?<=\p{L}{2})\.$/gu, '')
    .trim()
  const words = name.split(' ').length
  return /\p{L}{2}/u.test(name) && words <= 6 && name.length <= 80 ? name : undefined
}
