// Texts: each is there and as committed, or erased by a record that names it. Anything else is loss.
import { concatBytes, detached, encodeUtf8, fromBase64 } from '../../bytes.ts'
import { erasureOf } from '../../erasure-list.ts'
import type { PayloadReference, RecordBody } from '../../record.ts'
import { sha256Hex } from '../../sha256.ts'
import type { Check } from '../checks.ts'
import type { Evidence } from '../evidence.ts'
import { FILES } from '../format.ts'
import type { BundlePayload } from '../format.ts'
import type { SegmentStatus } from '../report.ts'
import { placeOf } from './records.ts'

const SALT_BYTES = 32
const DOMAIN = encodeUtf8('baton/commit/v1\n')
const ERASING: readonly string[] = ['ERASURE_REQUESTED', 'ERASURE_COMPLETED']
const label = (place: readonly [string, number, number]): string => place.join(' ')

export const checkErasure: Check = ({ evidence: { erasureLists }, log }) => {
  if (erasureLists === undefined) {
    log.fail({ file: FILES.erasureLists }, 'it is missing or cannot be read')
    return {}
  }
  let records = 0
  return {
    record(record) {
      if (record.file !== FILES.erasures) return
      const list = erasureLists[records]
      records += 1
      const erasure = record.body?.erasure
      if (erasure === undefined || !ERASING.includes(record.body?.event ?? '')) {
        log.fail(placeOf(record), 'the record erases nothing')
        return
      }
      const expected = list && erasureOf(erasure.subjectRef, list)
      if (expected?.segments === erasure.segments && expected.listSha256 === erasure.listSha256) {
        return
      }
      log.fail(placeOf(record), 'the list of segments is not the one that the record names')
    },
    end() {
      if (records === erasureLists.length) return
      log.fail({ file: FILES.erasureLists }, 'there are more lists than erasure records')
    },
  }
}

/** The subjects whose keys were destroyed, by the place of each segment that a record erased. */
function erasedPlaces(evidence: Evidence): (body: RecordBody, at: number, erased: Erased) => void {
  return (body, at, erased) => {
    if (body.erasure === undefined || !ERASING.includes(body.event)) return
    for (const place of evidence.erasureLists?.[at] ?? []) {
      erased.set(label(place), body.erasure.subjectRef)
    }
  }
}

type Erased = Map<string, string>

interface NamedSegment {
  readonly origin: string
  readonly seq: number
  readonly reference: PayloadReference
}

export const checkPayload: Check = ({ evidence, log, segments }) => {
  const erased: Erased = new Map()
  const erase = erasedPlaces(evidence)
  const named: NamedSegment[] = []
  const isIncluded = evidence.files.has(FILES.payloads)
  if (isIncluded && evidence.payloads === undefined) {
    log.fail({ file: FILES.payloads }, 'it cannot be read')
  }
  if (!isIncluded) log.skip('the bundle holds no texts')
  let erasures = 0
  return {
    record({ file, body }) {
      if (file === FILES.erasures) {
        if (body !== undefined) erase(body, erasures, erased)
        erasures += 1
      } else if (body !== undefined) {
        const { origin, seq } = body
        for (const reference of body.payload) {
          named.push({ origin: detached(origin), seq, reference })
        }
      }
    },
    end() {
      const stored = new Map(
        (evidence.payloads ?? []).map((one) => [label([one.origin, one.seq, one.segment]), one]),
      )
      if (stored.size !== (evidence.payloads ?? []).length) {
        log.fail({ file: FILES.payloads }, 'a segment stands twice')
      }
      for (const one of named) {
        const place = label([one.origin, one.seq, one.reference.segment])
        const status = statusOf(one.reference, stored.get(place), {
          isErased: erased.get(place) === one.reference.subjectRef,
          isIncluded,
        })
        stored.delete(place)
        const { origin, seq } = one
        segments.push({ origin, seq, segment: one.reference.segment, status })
        const message = `segment ${one.reference.segment} ${SENTENCES[status] ?? ''}`
        if (status in SENTENCES) log.fail({ file: FILES.payloads, origin, seq }, message)
      }
      for (const { origin, seq } of stored.values()) {
        log.fail({ file: FILES.payloads, origin, seq }, 'a text that no record names')
      }
    },
  }
}

const SENTENCES: Readonly<Partial<Record<SegmentStatus, string>>> = {
  missing: 'is missing, and no erasure record names it',
  mismatch: 'is not what the record committed to',
}

function statusOf(
  reference: PayloadReference,
  stored: BundlePayload | undefined,
  known: { readonly isErased: boolean; readonly isIncluded: boolean },
): SegmentStatus {
  if (stored !== undefined) return opens(reference, stored) ? 'present' : 'mismatch'
  if (known.isErased) return 'erased'
  return known.isIncluded ? 'missing' : 'withheld'
}

function opens(reference: PayloadReference, { salted }: BundlePayload): boolean {
  const bytes = fromBase64(salted) ?? new Uint8Array(0)
  if (bytes.length - SALT_BYTES !== reference.bytes) return false
  return sha256Hex(concatBytes([DOMAIN, bytes])) === reference.commitment
}
