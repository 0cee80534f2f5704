// Record by record: form, order, task, and the hashes that link each record to the ones before it.
import { detached } from '../../bytes.ts'
import { canonicalJson } from '../../canonical-json.ts'
import { isRecordBody } from '../../check-entry.ts'
import type { Check } from '../checks.ts'
import { FILES } from '../format.ts'
import type { EvidenceRecord } from '../records.ts'
import type { FindingPlace } from '../report.ts'

const GENESIS = '0'.repeat(64)

export const placeOf = ({ file, line, body }: EvidenceRecord): FindingPlace =>
  body === undefined ? { file: `${file}:${line}` } : { file, origin: body.origin, seq: body.seq }

export const checkRecordForm: Check = ({ evidence: { files, thorough }, log }) => {
  for (const name of [FILES.records, FILES.erasures]) {
    const bytes = files.get(name)
    if (bytes === undefined) log.fail({ file: name }, 'the file is missing')
    else if (bytes.length > 0 && bytes.at(-1) !== 10)
      log.fail({ file: name }, 'the last line is cut')
  }
  return {
    record(record) {
      const { body, isPlain } = record
      if (isPlain || (body !== undefined && (!thorough || isRecordBody(body)))) return
      log.fail(placeOf(record), 'the line is not a version 1 record')
    },
  }
}

export const checkRecordCanonical: Check = ({ evidence: { thorough }, log }) => {
  if (!thorough) {
    log.skip('not asked for')
    return {}
  }
  return {
    record(record) {
      if (record.body === undefined || record.isPlain || isCanonical(record)) return
      log.fail(placeOf(record), 'the same content has another canonical form')
    },
  }
}

function isCanonical({ text, body }: EvidenceRecord): boolean {
  try {
    return canonicalJson(body) === text
  } catch {
    return false
  }
}

/** Each chain in one run, each run by ascending seq. */
export const checkRecordOrder: Check = ({ log }) => {
  let before: EvidenceRecord | undefined
  const runs = new Set<string>()
  return {
    record(record) {
      if (record.body === undefined) return
      const { origin, seq } = record.body
      const last = before?.body
      if (last?.origin !== origin || before?.file !== record.file) {
        const run = `${record.file} ${origin}`
        if (runs.has(run)) log.fail(placeOf(record), 'the chain is interrupted')
        runs.add(run)
      } else if (seq <= last.seq) {
        log.fail(placeOf(record), 'the record stands twice or out of order')
      }
      before = record
    },
  }
}

export const checkRecordTask: Check = ({ evidence: { manifest }, log }) => {
  const taskId = manifest?.taskId ?? null
  if (taskId === null) {
    log.skip('the bundle is of no single task')
    return {}
  }
  return {
    record(record) {
      if (record.file !== FILES.records || record.body?.taskId === taskId) return
      log.fail(placeOf(record), 'the record belongs to another task')
    },
  }
}

/** Locates a changed record at once, also where nothing after it links to it. */
export const checkRecordHash: Check = ({ evidence: { chains, leaves }, log }) => {
  if (chains === undefined) {
    log.fail({ file: FILES.proof }, 'it is missing or cannot be read')
    return {}
  }
  const sizes = new Map(chains.map(({ origin, size }) => [origin, size]))
  if (sizes.size !== chains.length) log.fail({ file: FILES.proof }, 'a chain stands twice')
  return {
    record(record) {
      if (record.body === undefined) return
      const { origin, seq } = record.body
      if (seq >= (sizes.get(origin) ?? 0)) return
      const expected = leaves.get(origin)?.hashOf(seq)
      if (expected === undefined) log.fail(placeOf(record), 'the proof does not name the record')
      else if (expected !== record.hashHex) log.fail(placeOf(record), 'the record has another hash')
    },
  }
}

export const checkRecordLink: Check = ({ log }) => {
  let before: EvidenceRecord | undefined
  return {
    record(record) {
      const [last, body] = [before?.body, record.body]
      const isNext = last !== undefined && body?.origin === last.origin && body.seq === last.seq + 1
      if (isNext && record.file === before?.file && body.previousRecordHash !== before.hashHex) {
        log.fail(placeOf(record), 'the record does not link to the one before it')
      }
      if (body?.seq === 0 && body.previousRecordHash !== GENESIS) {
        log.fail(placeOf(record), 'the first record of a chain links to another')
      }
      before = record
    },
  }
}

export const checkTaskLink: Check = ({ log }) => {
  const heads = new Map<string, { taskSeq: number; hashHex: string }>()
  return {
    record(record) {
      const { file, body, hashHex } = record
      if (file !== FILES.records || body === undefined) return
      const head = heads.get(body.taskId)
      const expected = head === undefined ? 0 : head.taskSeq + 1
      if (body.taskSeq !== expected) {
        log.fail(placeOf(record), `expected the task's record ${expected}, found ${body.taskSeq}`)
      } else if (body.previousTaskRecordHash !== (head?.hashHex ?? GENESIS)) {
        log.fail(placeOf(record), "the record does not link to the task's record before it")
      }
      if (head === undefined) {
        heads.set(detached(body.taskId), { taskSeq: body.taskSeq, hashHex })
      } else {
        head.taskSeq = body.taskSeq
        head.hashHex = hashHex
      }
    },
  }
}
