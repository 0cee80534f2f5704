// What came out of a task, for `trace`: who concluded what, how long it is, and which record committed to it.
import type { PayloadReference, RecordBody } from '@baton/ledger'
import { count } from '../terminal/figures.ts'
import { clip, renderTable } from '../terminal/table.ts'

interface Concluded {
  readonly records: readonly { readonly body: Concluding }[]
  /** What the task came to, as the operational database has it; null where it has not ended or only the log knows it. */
  readonly result: unknown
}

type Concluding = Pick<RecordBody, 'taskSeq' | 'toAgent' | 'model'> & {
  readonly payload: readonly Pick<PayloadReference, 'kind' | 'bytes'>[]
}

const SHOWN_COLUMNS = 160
const COLUMNS = [
  { title: 'ANSWER OF', widthMax: 44 },
  { title: 'MODEL', widthMax: 28 },
  { title: 'BYTES', align: 'right' },
  { title: 'RECORD', align: 'right' },
] as const

/** Empty where there is nothing to tell. The texts themselves stand in the log under the keys of people: evidence shows them. */
export function resultLines({ records, result }: Concluded): { answers: string; result: string } {
  const ended = records.flatMap(({ body: { taskSeq, toAgent, model, payload } }) => {
    const answer = payload.find(({ kind }) => kind === 'result')
    if (answer === undefined) return []
    const { agentType, agentVersion } = toAgent
    return [
      [
        [agentType, agentVersion ?? ''].join(' ').trim(),
        model ?? '',
        count(answer.bytes),
        String(taskSeq),
      ],
    ]
  })
  return {
    answers: ended.length === 0 ? '' : renderTable(COLUMNS, ended),
    result: result === null ? '' : `Result ${clip(JSON.stringify(result), SHOWN_COLUMNS)}`,
  }
}
