// The report after its first page: the story, who decided, costs, agents, texts, checks and records.
import type { BundleReport, CheckReport, SegmentStatus } from '../../src/bundle/report.ts'
import type { PayloadReference } from '../../src/record.ts'
import { costsOf } from './costs.ts'
import { classed, linkTo, make, marked, tableOf } from './dom.ts'
import type { Child, PageElement } from './dom.ts'
import { decisionsOf } from './overview.ts'
import { executedVersion, isOfHandoff } from './read.ts'
import type { ShownRecord } from './read.ts'
import { numberHandoffs, tell } from './story.ts'
import type { Phrase } from './story.ts'
import { textElement } from './texts.ts'
import {
  counted,
  dollars,
  EVENT_WORDS,
  instantWords,
  listed,
  reasonWords,
  sixChecks,
} from './words.ts'

export const storyItems = (records: readonly ShownRecord[]): PageElement[] =>
  tell(records).map(({ record, phrase }) => {
    const when = classed('when', make('div', instantWords(record.body.recordedAt)))
    const item = make('li', when, make('p', ...doubt(record), ...partsOf(phrase)))
    item.id = `paragraph-${record.number}`
    return item
  })

const partsOf = (phrase: Phrase): Child[] =>
  phrase.map((part) => (typeof part === 'string' ? part : make('b', part.name)))

const doubt = ({ isDoubted }: ShownRecord): Child[] =>
  isDoubted ? [marked('tampered', 'A check fails here:'), ' '] : []

const paragraph = ({ number }: ShownRecord): PageElement =>
  linkTo(`paragraph-${number}`, String(number))

export function peopleElement(records: readonly ShownRecord[]): PageElement {
  const decisions = decisionsOf(records)
  if (decisions.length === 0)
    return make('p', 'No person decided anything that these records tell of.')
  const numbers = numberHandoffs(records)
  const rows = decisions.map((record): Child[] => {
    const { act, event, reason, handoffId, recordedAt } = record.body
    const about = numbers.get(handoffId)
    return [
      make('b', act?.actor ?? ''),
      EVENT_WORDS[event],
      about === undefined ? 'the task' : `handoff ${about}`,
      reason === null ? 'none recorded' : reasonWords(reason),
      instantWords(recordedAt),
      paragraph(record),
    ]
  })
  const columns = ['Who', 'What', 'About', 'Reason', 'When', 'Paragraph']
  return tableOf('Decisions of people, by the name under which they signed in', columns, rows)
}

export function costElement(records: readonly ShownRecord[]): PageElement {
  const costs = costsOf(records.filter(({ isErasure }) => !isErasure).map(({ body }) => body))
  const rows = costs.byAgent.map(({ agent, microUSD, tokensRead, tokensWritten }): Child[] => [
    agent,
    dollars(microUSD),
    String(tokensRead),
    String(tokensWritten),
  ])
  const { totalMicroUSD, tokensRead, tokensWritten } = costs
  const total = ['All together', dollars(totalMicroUSD), String(tokensRead), String(tokensWritten)]
  const columns = ['Agent', 'Cost', 'Tokens read', 'Tokens written']
  return tableOf('What each agent spent; nothing is counted twice', columns, [
    ...rows,
    total.map((cell) => make('strong', cell)),
  ])
}

/** An agent is named by what it handed on, and where it handed on nothing, by what became of its work. */
export function agentsElement(records: readonly ShownRecord[]): PageElement {
  const bodies = records.filter(isOfHandoff).map(({ body }) => body)
  const numbers = numberHandoffs(records)
  const numberOf = ({ handoffId }: ShownRecord['body']): string => String(numbers.get(handoffId))
  const senders = new Set(bodies.map(({ fromAgent }) => fromAgent.agentId))
  const sent = Map.groupBy(bodies, ({ fromAgent }) => fromAgent.executionId)
  const others = bodies.filter(({ toAgent }) => !senders.has(toAgent.agentType))
  const received = Map.groupBy(others, ({ toAgent }) => toAgent.agentType)
  const rows = [
    ...[...sent].map(([execution, own]): Child[] => {
      const { agentId = '', agentVersion = '' } = own[0]?.fromAgent ?? {}
      const handoffs = [...new Set(own.map(numberOf))]
      return [agentId, agentVersion, `handoff ${listed(handoffs)}`, make('code', execution)]
    }),
    ...[...received].map(([agent, own]): Child[] => [agent, versionsOf(own), 'none', '']),
  ]
  const columns = ['Agent', 'Version that acted', 'Handed on', 'Execution']
  return tableOf('Agents and the versions that acted', columns, rows)
}

function versionsOf(bodies: readonly ShownRecord['body'][]): string {
  const ran = new Set(bodies.flatMap((body) => executedVersion(body) ?? []))
  if (ran.size > 0) return listed([...ran])
  const asked = new Set(bodies.map(({ toAgent }) => toAgent.agentVersion ?? 'any'))
  return `not recorded; asked for: ${listed([...asked])}`
}

const STATUS_WORDS: Readonly<Record<SegmentStatus, string>> = {
  present: 'as recorded',
  erased: 'erased',
  withheld: 'left out',
  missing: 'missing',
  mismatch: 'not what was recorded',
}

const KIND_WORDS: Readonly<Record<PayloadReference['kind'], string>> = {
  message: 'message',
  personal: 'personal data',
  result: 'what it answered',
  'task-result': 'what the task came to',
}

export function textElements(records: readonly ShownRecord[]): PageElement[] {
  const numbers = numberHandoffs(records)
  const shown = new Map<string, ShownRecord>()
  const articles = records.flatMap((record) =>
    record.texts.map(({ reference, status, text }) => {
      const { handoffId, fromAgent, toAgent } = record.body
      const about = `Handoff ${numbers.get(handoffId) ?? '?'}, ${fromAgent.agentId} to ${toAgent.agentType}`
      const state = marked(
        status ?? 'unproven',
        status === undefined ? 'not checked' : STATUS_WORDS[status],
      )
      const size = ` ${counted(reference.bytes, 'byte')}, digest with its salt `
      return make(
        'article',
        make('h3', `${about}: ${KIND_WORDS[reference.kind]}`),
        make(
          'p',
          state,
          size,
          make('code', reference.commitment),
          '; paragraph ',
          paragraph(record),
        ),
        ...(text === undefined ? [] : [onceShown(text, record, shown)]),
      )
    }),
  )
  return articles.length === 0 ? [make('p', 'The records commit to no text.')] : articles
}

/** A message that was handed over again is not printed again. */
function onceShown(
  text: string,
  record: ShownRecord,
  shown: Map<string, ShownRecord>,
): PageElement {
  const before = shown.get(text)
  if (before !== undefined) {
    return make(
      'p',
      'Letter for letter the text of paragraph ',
      paragraph(before),
      ', shown above.',
    )
  }
  shown.set(text, record)
  return textElement(text)
}

const RESULT_WORDS: Readonly<Record<CheckReport['result'], string>> = {
  ok: 'holds',
  failed: 'fails',
  incomplete: 'cannot say',
  skipped: 'not made',
}

export function checksElement({ checks }: BundleReport, hasOwnPolicy: boolean): PageElement {
  const rows = checks.map(({ title, result, note, findings }): Child[] => {
    const places = findings.map(({ rule, file, origin, seq, message }) => {
      const place = [file, origin, seq === null ? null : `position ${seq}`, message]
      return make('li', `${rule}: ${place.filter((part) => part !== null).join(' · ')}`)
    })
    const said = make('div', title, note === null ? '' : ` (${note})`)
    if (places.length > 0) said.append(make('ul', ...places))
    return [marked(result, RESULT_WORDS[result]), said]
  })
  const against = hasOwnPolicy
    ? 'against your policy'
    : 'against the policy in the bundle, which is meant here by “your policy”'
  return tableOf(
    `Made by this page, on the bytes of the bundle, ${against}`,
    ['Result', 'Check'],
    rows,
  )
}

export function recordsElement(records: readonly ShownRecord[]): PageElement {
  const numbers = numberHandoffs(records)
  const rows = records.map((record): Child[] => {
    const { origin, seq, event, recordedAt, fromAgent, toAgent, handoffId } = record.body
    const number = numbers.get(handoffId)
    const agents = isOfHandoff(record) ? `${fromAgent.agentId} → ${toAgent.agentType}` : ''
    const handoff = number === undefined ? '' : `Handoff ${number}: ${agents}`
    return [
      paragraph(record),
      make('div', instantWords(recordedAt), ...lines(handoff), make('br'), make('code', handoffId)),
      make('div', ...doubt(record), make('b', EVENT_WORDS[event]), make('br'), make('code', event)),
      make('div', ...saidBy(record), ...(record.isLater ? [make('div', LATER)] : [])),
      make('div', make('code', `${origin} ${seq}`), make('br'), make('code', record.hashHex)),
    ]
  })
  const columns = ['No.', 'When and about what', 'Event', 'What it says', 'Place and hash']
  return tableOf('Every record of the bundle, in the order of time', columns, rows)
}

const LATER = 'later than the map of tasks that proves the end'

const lines = (text: string): Child[] => (text === '' ? [] : [make('br'), text])

function saidBy({ body, texts }: ShownRecord): Child[] {
  const { verdicts, reason, act, cost } = body
  const outcomes = verdicts === null ? [] : sixChecks(verdicts)
  const others = outcomes.filter(([, outcome]) => outcome !== 'passed')
  const said = [
    ...(outcomes.length > 0 && others.length === 0 ? ['six checks passed'] : []),
    ...others.map(([name, outcome]) => `${name} ${outcome}`),
    ...(reason === null ? [] : [make('code', reason)]),
    ...(act === undefined ? [] : [`by ${act.actor}`]),
    ...(cost === null ? [] : [`spent so far ${dollars(cost.spentMicroUSD)}`]),
    ...(texts.length === 0 ? [] : [counted(texts.length, 'text')]),
  ]
  return said.map((line) => make('div', line))
}
