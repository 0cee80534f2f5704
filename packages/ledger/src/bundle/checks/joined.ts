// What a join was given is what its branches came to, as the records of their own handoffs committed to it.
import { decodeUtf8, detached, encodeUtf8, fromBase64 } from '../../bytes.ts'
import type { RecordBody } from '../../record.ts'
import { sha256Hex } from '../../sha256.ts'
import type { Check } from '../checks.ts'
import type { Evidence } from '../evidence.ts'
import { FILES } from '../format.ts'
import type { FindingPlace } from '../report.ts'

const SALT_BYTES = 32
/** Messages are no deeper; what is cannot be told to be the same. */
const DEPTH_MAX = 64
const CHANGES: readonly string[] = ['HANDOFF_REDACTED', 'HANDOFF_REVISED']

interface Join {
  readonly place: FindingPlace
  readonly handoffId: string
  readonly joins: readonly string[]
  /** Of its message, in the payloads. */
  readonly text: string
}

interface Task {
  /** Where the last text stands that a handoff was answered with. */
  readonly answers: Map<string, string>
  readonly handoffs: Set<string>
  readonly parents: Set<string>
  /** What somebody changed after it was built: who, their records say. */
  readonly changed: Set<string>
  readonly joins: Join[]
  isWhole: boolean
}

export const checkJoined: Check = ({ evidence, log }) => {
  const task: Task = {
    answers: new Map(),
    handoffs: new Set(),
    parents: new Set(),
    changed: new Set(),
    joins: [],
    isWhole: false,
  }
  return {
    record({ file, body }) {
      if (file === FILES.records && body !== undefined) add(task, body)
    },
    end() {
      const joins = task.joins.filter(({ handoffId }) => !task.changed.has(handoffId))
      if (joins.length === 0) return
      const texts = textsOf(evidence)
      for (const join of joins) {
        for (const handoffId of join.joins) {
          if (task.handoffs.has(handoffId) || !task.isWhole) continue
          log.lack(join.place, `it joins the handoff ${handoffId}, of which there is no record`)
        }
        const fault = faultOf(join, task, texts)
        if (fault !== undefined) log.fail(join.place, fault)
      }
    },
  }
}

const labelOf = ({ origin, seq }: RecordBody, segment: number): string =>
  `${origin} ${seq} ${segment}`

function add(task: Task, body: RecordBody): void {
  const { event, parentHandoffId, joins, act, payload } = body
  const handoffId = addTo(task.handoffs, body.handoffId)
  task.isWhole ||= body.taskSeq === 0
  if (typeof parentHandoffId === 'string') addTo(task.parents, parentHandoffId)
  if (CHANGES.includes(event)) addTo(task.changed, handoffId)
  if (event === 'TASK_RESUMED' && act !== undefined) task.changed.add(detached(act.id))
  const answer = payload.findLast(({ kind }) => kind === 'result')
  if (event === 'EXECUTION_COMPLETED' && answer !== undefined)
    task.answers.set(detached(handoffId), detached(labelOf(body, answer.segment)))
  const message = payload.find(({ kind }) => kind === 'message')
  if (event !== 'HANDOFF_ACCEPTED' || !Array.isArray(joins) || message === undefined) return
  const place = { file: FILES.records, origin: detached(body.origin), seq: body.seq }
  const text = labelOf(body, message.segment)
  task.joins.push({ place, handoffId: detached(handoffId), joins: joins.map(detached), text })
}

function addTo(all: Set<string>, id: string): string {
  if (all.has(id)) return id
  const own = detached(id)
  all.add(own)
  return own
}

type TextOf = (label: string) => string | undefined

/** Undefined where it is erased or withheld. */
function textsOf({ payloads = [] }: Evidence): TextOf {
  const stored = new Map(
    payloads.map((one) => [`${one.origin} ${one.seq} ${one.segment}`, one.salted]),
  )
  return (label) => {
    const salted = fromBase64(stored.get(label) ?? '')
    return salted && decodeUtf8(salted.subarray(SALT_BYTES))
  }
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

function faultOf(join: Join, task: Task, texts: TextOf): string | undefined {
  const message = parsed(texts(join.text))
  if (message === undefined) return undefined
  const branches = membersOf(membersOf(message)?.['currentState'])?.['branches']
  return faultIn(branches, { ...task, joined: new Set(join.joins), texts }, 0)
}

interface Known extends Pick<Task, 'answers' | 'parents'> {
  readonly joined: ReadonlySet<string>
  readonly texts: TextOf
}

function faultIn(branches: unknown, known: Known, depth: number): string | undefined {
  const told = Object.values(membersOf(branches) ?? {})
  if (told.length === 0 || depth > DEPTH_MAX) return 'it was told of no branch'
  return told.map((branch) => faultOfBranch(branch, known, depth)).find((one) => one !== undefined)
}

function faultOfBranch(branch: unknown, known: Known, depth: number): string | undefined {
  const { handoffId, outcome, result, cut } = membersOf(branch) ?? {}
  const id = typeof handoffId === 'string' ? handoffId : ''
  if (id !== '' && depth === 0 && !known.joined.has(id))
    return `it was told of the handoff ${JSON.stringify(id)}, which it does not join`
  if (outcome !== 'COMPLETED') return undefined
  const label = known.answers.get(id)
  if (label === undefined) return 'it was told of a result that no record committed to'
  if (isAnswer(known.texts(label), { result, cut })) return undefined
  if (known.parents.has(id) && isOfBranches(result, cut)) {
    const within = membersOf(result)?.['branches']
    // Its message had no room for what was put together of branches within.
    return within === undefined ? undefined : faultIn(within, known, depth + 1)
  }
  return `it was told of another result than the handoff ${id} came to`
}

/** Whether it is what was answered, whole or by its digest; also where what was answered is not there. */
function isAnswer(
  text: string | undefined,
  { result, cut }: { readonly result: unknown; readonly cut: unknown },
): boolean {
  const answer = parsed(text)
  if (text === undefined || answer === undefined || isSame(answer, result, 0)) return true
  const digest = membersOf(cut)?.['sha256']
  return typeof digest === 'string' && result === null && digestsOf(text, answer).includes(digest)
}

/** A branch that fanned out, and that nothing joined there, came to what its own branches did. */
const isOfBranches = (result: unknown, cut: unknown): boolean =>
  result === null
    ? membersOf(cut) !== undefined
    : Object.keys(membersOf(result) ?? {}).join(' ') === 'branches'

/** Of its RFC 8785 form, and of its JSON, which stands for a value that has none. */
function digestsOf(text: string, answer: unknown): readonly string[] {
  const forms = [text]
  try {
    forms.push(canonicalText(answer))
  } catch {
    // It is too deep to be written here.
  }
  return forms.map((form) => sha256Hex(encodeUtf8(form)))
}

function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  const members = membersOf(value)
  if (members === undefined) return JSON.stringify(value)
  const names = Object.keys(members).toSorted()
  const written = names.map((name) => `${JSON.stringify(name)}:${canonicalText(members[name])}`)
  return `{${written.join(',')}}`
}

type Members = Readonly<Record<string, unknown>>

const membersOf = (value: unknown): Members | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Members)
    : undefined

function isSame(one: unknown, other: unknown, depth: number): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other
  if (depth > DEPTH_MAX || Array.isArray(one) !== Array.isArray(other)) return false
  const members = Object.entries(one)
  return (
    members.length === Object.keys(other).length &&
    members.every(
      ([name, value]) =>
        Object.hasOwn(other, name) && isSame(value, (other as Members)[name], depth + 1),
    )
  )
}
