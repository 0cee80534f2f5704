// `safety test`: the verdict of the embedded scanner on a file of the caller's own, with the text that each finding stands on.
import { hash } from 'node:crypto'
import { DEFAULT_LIMITS, parseMessage } from '@baton/protocol'
import { permanent } from '@baton/runtime'
import { createScanner, textsAt } from '@baton/safety'
import type { SafetyVerdict } from '@baton/safety'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { clip, renderTable } from '../terminal/table.ts'
import { readInput } from './read-input.ts'

type Finding = SafetyVerdict['findings'][number]
type Message = Readonly<Record<string, unknown>>

interface TestOptions {
  readonly file: string
  /** Read as text, whatever it begins with. */
  readonly text: boolean
}

/** Throws BATON_USAGE where the file is no text, no message, or larger than a message may be. */
export async function safetyTest(
  { output }: Pick<Context, 'output'>,
  { file, text }: TestOptions,
): Promise<ExitCode> {
  const given = await readInput(file, DEFAULT_LIMITS.bytesMax)
  const isMessage = !text && given.trimStart().startsWith('{')
  const message = isMessage ? readMessage(given, file) : messageOf(given, file)
  const verdict = createScanner().scan(message)
  const findings = verdict.findings.map((finding) => ({
    ...finding,
    excerpt: excerptOf(message, finding),
  }))
  const { decision, score, rulesetVersion } = verdict
  if (output.json) output.data(JSON.stringify({ decision, score, rulesetVersion, findings }))
  else {
    output.data(`${DECIDED[decision]} (score ${score}, ruleset ${rulesetVersion.slice(0, 12)})`)
    if (findings.length > 0) output.data(`\n${table(findings)}`)
    if (!isMessage) output.words('Read as one text of class data, the strictest.')
  }
  const [strongest] = findings.toSorted((one, other) => other.weight - one.weight)
  output.next(
    strongest === undefined
      ? 'nothing was found; what no scan finds stands in infra/safety.md'
      : nextStep(`safety explain ${strongest.ruleId}`),
  )
  return decision === 'reject' ? EXIT.failure : EXIT.fine
}

const DECIDED: Readonly<Record<SafetyVerdict['decision'], string>> = {
  allow: 'allow: it passes',
  flag: 'flag: it passes, recorded and fenced for the agent',
  reject: 'reject: it becomes a dead letter with SAFETY_VIOLATION',
}

function readMessage(given: string, file: string): Message {
  const value = readWithin(given, file, 'Mend it, or add --text to judge it as text.')
  return value as Message
}

/** The limits of a string hold for a text too, because no message could carry it otherwise. */
const messageOf = (text: string, file: string): Message =>
  readWithin(JSON.stringify({ text }), file, 'Give parts of it one by one.') as Message

function readWithin(json: string, file: string, way: string): unknown {
  const parsed = parseMessage(Buffer.from(json))
  if (parsed.ok) return parsed.value
  const [first] = parsed.details
  const name = file === '-' ? 'standard input' : file
  const place = first?.pointer ? ` at ${first.pointer}` : ''
  throw permanent('BATON_USAGE', `${name}${place}: ${first?.message ?? 'is not JSON'}`, {
    fix: `${first?.fix ?? 'Give a JSON object.'} ${way}`,
  })
}

/** How much of the text before and behind a finding is shown. */
const AROUND = 24

/** Finds the text by its hash: a finding names a key by the pointer of its value. */
function excerptOf(message: Message, { jsonPointer, span, hash: expected }: Finding): string {
  const [start, end] = span
  const text = textsAt(message, jsonPointer).find(
    (one) => hash('sha256', one.slice(start, end)) === expected,
  )
  if (text === undefined || start === end) return ''
  const before = text.slice(Math.max(0, start - AROUND), start)
  return `${before}[${text.slice(start, end)}]${text.slice(end, end + AROUND)}`.toWellFormed()
}

const table = (findings: readonly (Finding & { readonly excerpt: string })[]): string =>
  renderTable(
    [
      { title: 'RULE' },
      { title: 'CATEGORY' },
      { title: 'WHERE', widthMax: 40 },
      { title: 'READ AS' },
      { title: 'TEXT', widthMax: 80 },
    ],
    findings.map(({ ruleId, category, jsonPointer, view, excerpt }) => [
      ruleId,
      category,
      clip(jsonPointer) || 'the whole message',
      view,
      excerpt,
    ]),
  )
