// What stands in the canonical bytes of a usual record: the text between its members, and their forms.
import { form, literal } from './byte-forms.ts'

/** What stands before each member, from the end of the one before it on. */
export const BEFORE = {
  attempt: literal('{"attempt":'),
  cost: literal(',"cost":'),
  completionTokens: literal('{"completionTokens":'),
  promptTokens: literal(',"promptTokens":'),
  remainingMicroUSD: literal(',"remainingMicroUSD":'),
  spentMicroUSD: literal(',"spentMicroUSD":'),
  epoch: literal(',"epoch":'),
  event: literal(',"event":"'),
  agentId: literal(',"fromAgent":{"agentId":"'),
  fromVersion: literal(',"agentVersion":"'),
  executionId: literal(',"executionId":"'),
  handoffId: literal('},"handoffId":"'),
  batchKey: literal(',"keyIds":{"batch":"'),
  wrapKey: literal(',"wrap":"'),
  origin: literal('},"origin":"'),
  parentHandoffId: literal(',"parentHandoffId":'),
  payload: literal(',"payload":['),
  previousRecordHash: literal(',"previousRecordHash":"'),
  previousTaskRecordHash: literal(',"previousTaskRecordHash":"'),
  reason: literal(',"reason":'),
  recordId: literal(',"recordId":"'),
  recordedAt: literal(',"recordedAt":"'),
  seq: literal(',"seq":'),
  taskId: literal(',"taskId":"'),
  taskSeq: literal(',"taskSeq":'),
  agentType: literal(',"toAgent":{"agentType":"'),
  toVersion: literal(',"agentVersion":'),
  traceparent: literal('},"traceparent":"'),
  verdicts: literal(',"v":1,"verdicts":'),
}
export const NULL = literal('null')

export const SHA256 = form('h'.repeat(64))
export const UUID = form('hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh')
export const TRACEPARENT = form(`hh-${'h'.repeat(32)}-${'h'.repeat(16)}-hh`)
export const INSTANT = form('dddd-dd-ddTdd:dd:dd.ddddddZ')

const COUNT = '(?:0|[1-9][0-9]{0,14})'
const SMALL = '(?:0|[1-9][0-9]{0,5}|1000000)'
const HEX = (digits: number): string => `[0-9a-f]{${digits}}`
const ID = `"${HEX(8)}(?:-${HEX(4)}){3}-${HEX(12)}"`
const INK = '[!#-[\\]-~]'
const NAME = `"${INK}(?:[ !#-[\\]-~]{0,254}${INK})?"`
const OUTCOME = '"(?:passed|failed|skipped)"'
const REFERENCE =
  `\\{"bytes":${COUNT},"commitment":"${HEX(64)}","kind":"(?:message|personal)",` +
  `"segment":${COUNT},"subjectRef":${ID}\\}`

/** At most 256 segments. */
export const REFERENCES = new RegExp(`${REFERENCE}(?:,${REFERENCE}){0,255}`, 'y')
export const VERDICTS = new RegExp(
  `\\{"budget":${OUTCOME},"completeness":${OUTCOME},"safety":\\{"artefactId":(?:null|${NAME}),` +
    `"decision":"(?:allow|flag|reject|skipped)","findings":${SMALL}\\},` +
    `"schema":${OUTCOME},"signature":${OUTCOME},"size":${OUTCOME}\\}`,
  'y',
)
export const REASON = /"[A-Z][A-Z0-9_]{0,63}"/y
