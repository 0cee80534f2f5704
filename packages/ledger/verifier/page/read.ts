// What the page shows of a bundle: the records that follow every rule, in the order in which things happened, and
// each text under the record that committed to it. Nothing is believed here; the report says what holds.
import { FILES } from '../../src/bundle/format.ts'
import { visitRecords } from '../../src/bundle/records.ts'
import type { BundleReport, SegmentStatus } from '../../src/bundle/report.ts'
import { decodeUtf8, fromBase64 } from '../../src/bytes.ts'
import { isRecordBody } from '../../src/check-entry.ts'
import type { PayloadReference, RecordBody } from '../../src/record.ts'

export type BundleFiles = ReadonlyMap<string, Uint8Array>

export interface ShownText {
  readonly reference: PayloadReference
  readonly status: SegmentStatus | undefined
  /** Undefined unless it is present and what the record committed to. */
  readonly text: string | undefined
}

export interface ShownRecord {
  /** Counts from 1; the same for the paragraph that tells it and for its row. */
  readonly number: number
  readonly body: RecordBody
  readonly hashHex: string
  /** The record of an erasure, which concerns this task and is of none. */
  readonly isErasure: boolean
  /** A check that failed names this record. */
  readonly isDoubted: boolean
  /** It came after the map of tasks that proves the end: nothing is missing before it. */
  readonly isLater: boolean
  readonly texts: readonly ShownText[]
}

const SALT_BYTES = 32
const NOTHING = new Uint8Array(0)

export function readShown(files: BundleFiles, report: BundleReport): readonly ShownRecord[] {
  const texts = textsOf(files.get(FILES.payloads) ?? NOTHING)
  const statuses = new Map(report.segments.map((one) => [placeOf(one), one.status]))
  const doubted = new Set(
    report.checks.flatMap(({ result, findings }) =>
      result === 'failed' ? findings.map(seatOf) : [],
    ),
  )
  const later = new Set(report.end?.later.map(seatOf))
  const shown: Omit<ShownRecord, 'number'>[] = []
  for (const name of [FILES.records, FILES.erasures]) {
    visitRecords(name, files.get(name) ?? NOTHING, ({ body, hashHex, isPlain }) => {
      if (body === undefined || !(isPlain || isRecordBody(body))) return
      const { origin, seq } = body
      shown.push({
        body,
        hashHex,
        isErasure: name === FILES.erasures,
        isDoubted: doubted.has(seatOf({ origin, seq })),
        isLater: later.has(seatOf({ origin, seq })),
        texts: body.payload.map((reference) => {
          const place = placeOf({ origin, seq, segment: reference.segment })
          const status = statuses.get(place)
          return { reference, status, text: status === 'present' ? texts.get(place) : undefined }
        }),
      })
    })
  }
  return shown
    .toSorted((left, right) => (left.body.recordedAt < right.body.recordedAt ? -1 : 1))
    .map((record, at) => ({ number: at + 1, ...record }))
}

const seatOf = ({ origin, seq }: { readonly origin: string | null; readonly seq: number | null }) =>
  `${origin} ${seq}`

interface SegmentPlace {
  readonly origin: string
  readonly seq: number
  readonly segment: number
}

const placeOf = ({ origin, seq, segment }: SegmentPlace): string => `${origin} ${seq} ${segment}`

function textsOf(bytes: Uint8Array): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const line of (decodeUtf8(bytes) ?? '').split('\n')) {
    try {
      const { origin, seq, segment, salted } = JSON.parse(line)
      const text = decodeUtf8((fromBase64(String(salted)) ?? NOTHING).subarray(SALT_BYTES))
      texts.set(placeOf({ origin, seq, segment }), text ?? '')
    } catch {
      continue
    }
  }
  return texts
}

const EXACT_VERSION = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/

/** The version that executed; undefined in records of another event, and in older ones, which name the range asked for. */
export function executedVersion({ event, toAgent }: RecordBody): string | undefined {
  if (event !== 'EXECUTION_COMPLETED' && event !== 'EXECUTION_FAILED') return undefined
  const { agentVersion } = toAgent
  return agentVersion !== null && EXACT_VERSION.test(agentVersion) ? agentVersion : undefined
}

/** Events of the log itself: they stand in the task's chain and are about none of its handoffs. */
const OF_THE_LOG: ReadonlySet<string> = new Set([
  'ERASURE_REQUESTED',
  'ERASURE_COMPLETED',
  'ERASURE_DEFERRED',
  'EVIDENCE_EXPORTED',
  'VERIFY_RUN',
  'PARTITION_DROPPED',
  'LEGAL_HOLD_SET',
  'LEGAL_HOLD_LIFTED',
])

export const isOfHandoff = ({ body, isErasure }: ShownRecord): boolean =>
  !isErasure && !OF_THE_LOG.has(body.event)
