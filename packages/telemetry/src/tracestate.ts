// W3C tracestate: read strictly, and dropped as a whole when any part of it is wrong.

export interface TracestateMember {
  readonly key: string
  readonly value: string
}

const MEMBERS_MAX = 32
const LENGTH_MAX = 4096
const KEY = /^[a-z0-9][a-z0-9_\-*/@]{0,255}$/
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/**
 * The members in order, or undefined when the header breaks a rule: then none of it is passed on.
 * Several headers are given joined by commas. Empty members are legal and left out.
 */
export function parseTracestate(header: string): readonly TracestateMember[] | undefined {
  if (header.length > LENGTH_MAX) return undefined
  const members: TracestateMember[] = []
  const seen = new Set<string>()
  for (const part of header.split(',')) {
    const text = trimBlank(part)
    if (text === '') continue
    const member = parseMember(text)
    if (member === undefined || seen.has(member.key) || members.length >= MEMBERS_MAX)
      return undefined
    seen.add(member.key)
    members.push(member)
  }
  return members
}

/** The header for these members. */
export function formatTracestate(members: readonly TracestateMember[]): string {
  return members.map(({ key, value }) => `${key}=${value}`).join(',')
}

function parseMember(text: string): TracestateMember | undefined {
  const split = text.indexOf('=')
  if (split < 0) return undefined
  const key = text.slice(0, split)
  const value = text.slice(split + 1)
  return KEY.test(key) && VALUE.test(value) ? { key, value } : undefined
}

/** Optional white space is spaces and tabs only. */
function trimBlank(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
