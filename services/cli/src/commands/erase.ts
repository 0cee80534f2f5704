// `erase`: a person's data goes from every store; the receipt says from where, and the log proves it.
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { erasureConfirmation, erasureRequest } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withGateway } from '../gateway-client.ts'
import { tellBackups } from '../backup/tell-backups.ts'
import { ownsServer, purgeBriefly, purgeStorage } from '../instance/purge-storage.ts'
import type { Purged } from '../instance/purge-storage.ts'
import { counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

interface EraseOptions {
  readonly subject: string | undefined
  readonly basis?: string
  readonly confirm?: string
  readonly status?: string
  readonly replay?: boolean
  readonly purgeStorage?: boolean
}

interface Store {
  readonly name: string
  readonly before: number
  readonly after: number
  readonly note?: string
}

/** What the files under one database could still hold when the receipt was signed. */
interface Storage {
  readonly database: string
  readonly tables: number
  readonly tableBytes: number
  readonly deadRows: number
  readonly walPosition: string
  readonly walKeptBytes: number
  readonly walArchived: boolean
  readonly replicas: number
}

interface Receipt {
  readonly erasureId: string
  readonly stores: readonly Store[]
  /** Missing in receipts of earlier versions. */
  readonly storage?: readonly Storage[]
  readonly backupDays?: number | null
  readonly records: readonly { readonly origin: string; readonly seq: number }[]
  readonly segments: Readonly<Record<string, number>>
}

/** Plans by default; exactly one of confirm, status and replay does something else. */
export function erase(context: Context, options: EraseOptions): Promise<ExitCode> {
  const { subject, confirm, status, replay } = options
  if (status !== undefined) return showStatus(context, status)
  if (replay === true) return runReplay(context, options)
  if (subject === undefined && options.purgeStorage === true) return purgeAlone(context)
  if (subject === undefined) throw SUBJECT_MISSING
  return confirm === undefined
    ? plan(context, subject, options.basis)
    : runConfirm(context, { subject, id: confirm, purge: options.purgeStorage })
}

const SUBJECT_MISSING = permanent('BATON_USAGE', 'nobody is named who is to be erased', {
  fix: 'Give the id of the person as messages name it in dataSubjects.',
})

/** The right to erasure in general. */
const BASIS_DEFAULT = 'GDPR_ART_17_1'

/** What the second person signs. */
interface Planned {
  readonly id: string
  readonly basis: string
  readonly requestedBy: string
  readonly handoffIds: readonly string[]
}

interface Plan {
  readonly erasureId: string
  readonly state: string
  readonly handoffs: number
  readonly taskIds: readonly string[]
  readonly openHandoffIds: readonly string[]
  readonly heldTaskIds: readonly string[]
  readonly stores: readonly Store[]
}

async function plan(
  context: Context,
  subject: string,
  basis: string = BASIS_DEFAULT,
): Promise<ExitCode> {
  const { output } = context
  const body = { subject, basis, erasureId: randomUUID() }
  const asked = erasureRequest({ id: body.erasureId, subject, basis }, '')
  const planned = await withGateway(context, (gateway) =>
    gateway.decide<Plan>('/v2/erasures', body, asked),
  )
  if (output.json) output.data(JSON.stringify(planned))
  else output.data(planTable(planned.stores))
  const { handoffs, taskIds, openHandoffIds, heldTaskIds, erasureId } = planned
  output.words(`${counted(handoffs, 'handoff')} in ${counted(taskIds.length, 'task')}.`)
  if (heldTaskIds.length > 0) {
    output.words(`Deferred: a legal hold stands on ${heldTaskIds.join(', ')}.`)
    return EXIT.notAllowed
  }
  const [open] = openHandoffIds
  if (open !== undefined) {
    output.words(
      `${counted(openHandoffIds.length, 'handoff')} must end first: ${openHandoffIds.join(', ')}.`,
    )
    output.words(`  ${nextStep(`cancel ${open}`)}`)
  }
  output.next(
    `another person: ${nextStep(`erase <subject> --confirm ${erasureId} --as reviewer-1`)}`,
  )
  return EXIT.fine
}

const planTable = (stores: readonly Store[]): string =>
  renderTable(
    [{ title: 'STORE' }, { title: 'ITEMS', align: 'right' }],
    stores.map(({ name, before }) => [name, String(before)]),
  )

const receiptTable = (stores: readonly Store[]): string =>
  renderTable(
    [
      { title: 'STORE' },
      { title: 'BEFORE', align: 'right' },
      { title: 'AFTER', align: 'right' },
      { title: 'NOTE', widthMax: 90 },
    ],
    stores.map(({ name, before, after, note = '' }) => [name, String(before), String(after), note]),
  )

interface Confirmation {
  readonly subject: string
  readonly id: string
  readonly purge: boolean | undefined
}

async function runConfirm(
  context: Context,
  { subject, id, purge }: Confirmation,
): Promise<ExitCode> {
  const { output } = context
  const { receipt, file, purged } = await withGateway(context, async (gateway) => {
    const path = `/v2/erasures/${encodeURIComponent(id.trim().toLowerCase())}`
    const planned = await gateway.get<Planned>(path)
    const { basis, requestedBy, handoffIds } = planned
    const what = `${counted(handoffIds.length, 'handoff')} on the ground ${basis}`
    output.words(`${requestedBy} planned to erase ${what}, and what has come of the person since.`)
    const meant = erasureConfirmation({ ...planned, subject }, '')
    const done = await gateway.decide<Receipt>(`${path}/confirm`, { subject }, meant)
    const kept = await keep(context, `${done.erasureId}.json`, done)
    const wasPurged = await purgeAfter(context, purge)
    await tellBackups(context)
    return { receipt: done, file: kept, purged: wasPurged }
  })
  if (purged !== undefined) {
    await keep(context, `${receipt.erasureId}.purged.json`, { purgedAt: new Date(), ...purged })
  }
  if (output.json) output.data(JSON.stringify(purged ? { ...receipt, purged } : receipt))
  else output.data(receiptTable(receipt.stores))
  sayStorage(context, receipt)
  if (purged !== undefined) sayPurged(context, purged)
  else output.words(PURGE_LATER)
  output.words(`Proved by ${counted(receipt.records.length, 'record')}; receipt in ${file}.`)
  output.next(`${nextStep('verify')} proves that the log is still whole`)
  return EXIT.fine
}

const PURGE_LATER = `These files were left as they are. As the superuser of the databases: ${nextStep('erase --purge-storage')}`

/** All of it where that was asked for; else what nobody notices, on a server that serves nobody else. */
async function purgeAfter(
  context: Context,
  asked: boolean | undefined,
): Promise<Purged | undefined> {
  if (asked === true) return purgeStorage(context)
  if (asked === false || !ownsServer(context)) return undefined
  try {
    return await purgeBriefly(context)
  } catch (error) {
    // The erasure itself stands.
    context.output.words(error instanceof Error ? error.message : String(error))
    return undefined
  }
}

/** The receipt is signed before the storage is purged: what was purged stands in a file beside it. */
async function keep({ home }: Context, name: string, content: object): Promise<string> {
  const folder = join(home, 'erasures')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, name)
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  return file
}

const MEGABYTE = 2 ** 20
const megabytes = (bytes: number): string => `${Math.max(1, Math.round(bytes / MEGABYTE))} MB`

/** What the receipt says of the files under the databases, as measured right after the erasure. */
function sayStorage({ output }: Context, { storage = [], backupDays = null }: Receipt): void {
  if (storage.length === 0) return
  const rows = storage.map((left) => [
    left.database,
    megabytes(left.tableBytes),
    String(left.deadRows),
    left.walPosition,
    megabytes(left.walKeptBytes),
    left.walArchived ? 'yes' : 'no',
    String(left.replicas),
  ])
  output.words('\nFiles under the databases that could still hold it when the receipt was signed:')
  output.words(
    renderTable(
      [
        { title: 'DATABASE' },
        { title: 'TABLES', align: 'right' },
        { title: 'DEAD ROWS', align: 'right' },
        { title: 'LOG BEFORE' },
        { title: 'LOG KEPT', align: 'right' },
        { title: 'ARCHIVED' },
        { title: 'REPLICAS', align: 'right' },
      ],
      rows,
    ),
  )
  output.words(
    'Log before these positions is gone from a server once about so much more was written as it keeps, later where a replica waits for it.',
  )
  output.words(
    backupDays === null
      ? 'Back-ups made before hold it as well; nobody stated for how long (BATON_BACKUP_DAYS).'
      : `Back-ups made before hold it as well, for ${counted(backupDays, 'day')} at most, as the operator states.`,
  )
}

function sayPurged({ output }: Context, { tables, left, walFiles, olderWalFiles }: Purged): void {
  const older = olderWalFiles === 0 ? 'none of them older' : `${olderWalFiles} of them older`
  const log = `${counted(walFiles, 'file')} of write-ahead log left, ${older}`
  const isClean = left.length === 0 && olderWalFiles === 0
  output.step(
    isClean ? 'passed' : 'unknown',
    'storage',
    `${counted(tables, 'table')} rewritten, ${log}`,
  )
  for (const { table, bytes, why } of left) {
    output.words(`  ${table} (${megabytes(bytes)}) was left: ${why}`)
  }
  if (!isClean) output.words(`  ${nextStep('erase --purge-storage')} does the rest`)
}

async function purgeAlone(context: Context): Promise<ExitCode> {
  const purged = await withGateway(context, () => purgeStorage(context))
  if (context.output.json) context.output.data(JSON.stringify(purged))
  sayPurged(context, purged)
  return EXIT.fine
}

interface Status {
  readonly id: string
  readonly state: string
  readonly requestedBy: string
  readonly confirmedBy: string | null
  readonly proven: boolean
  readonly receipt: Receipt | null
}

async function showStatus(context: Context, id: string): Promise<ExitCode> {
  const { output } = context
  const path = `/v2/erasures/${encodeURIComponent(id.trim().toLowerCase())}`
  const status = await withGateway(context, (gateway) => gateway.get<Status>(path))
  if (output.json) output.data(JSON.stringify(status))
  else if (status.receipt !== null) {
    output.data(receiptTable(status.receipt.stores))
    sayStorage(context, status.receipt)
  }
  const confirmed = status.confirmedBy === null ? '' : `, confirmed by ${status.confirmedBy}`
  output.words(`${status.state}; asked for by ${status.requestedBy}${confirmed}.`)
  if (!status.proven) {
    output.words('Not proven: the table says something else of it than an auditor signed.')
    output.next(`${nextStep('verify')} names what was changed`)
    return EXIT.verificationFailed
  }
  return status.state === 'COMPLETED' ? EXIT.fine : EXIT.incomplete
}

interface Replay {
  readonly completed: readonly string[]
  readonly handoffs: number
}

async function runReplay(context: Context, options: EraseOptions): Promise<ExitCode> {
  const { output } = context
  const { replay, purged } = await withGateway(context, async (gateway) => ({
    replay: await gateway.post<Replay>('/v2/erasures/replay'),
    purged: options.purgeStorage === true ? await purgeStorage(context) : undefined,
  }))
  if (output.json) output.data(JSON.stringify(replay))
  if (purged !== undefined) sayPurged(context, purged)
  const { completed, handoffs } = replay
  output.words(
    `${counted(completed.length, 'erasure')} completed, ${counted(handoffs, 'handoff')} erased again.`,
  )
  output.next(nextStep('verify'))
  return EXIT.fine
}
