// Twelve builds that are wrong on purpose, as edits of today's source; the checker must catch each of them.

export interface SourceEdit {
  /** From the checkout's root. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
}

export interface KnownBad {
  readonly name: string
  /** What is wrong with it, as a sentence. */
  readonly about: string
  readonly edits: readonly SourceEdit[]
  /** The invariants of which at least one must break. */
  readonly breaks: readonly string[]
}

const SETTLEMENTS = 'packages/store/src/settlements.ts'
const EXECUTIONS = 'packages/store/src/executions.ts'
const RECEIVE = 'packages/engine/src/receive-handoff.ts'

export const KNOWN_BAD: readonly KnownBad[] = [
  {
    name: 'no-fence',
    about: 'a result commits whatever fencing token it was executed in',
    edits: [
      {
        file: SETTLEMENTS,
        find: `where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and e.status = 'EXECUTING'`,
        replace: `where e.handoff_id = i.handoff_id`,
      },
    ],
    breaks: ['I3', 'I7'],
  },
  {
    name: 'chunk-after-fence',
    about: 'a chunk commits whoever holds the handoff by now',
    edits: [
      {
        file: 'packages/store/src/stream-chunks.ts',
        find: "where e.handoff_id = ${AFTER_CHUNKS(1)} and e.fencing_token = ${AFTER_CHUNKS(2)} and e.status = 'EXECUTING'",
        replace:
          'where e.handoff_id = ${AFTER_CHUNKS(1)} and ${AFTER_CHUNKS(2)}::integer is not null',
      },
    ],
    breaks: ['I18'],
  },
  {
    name: 'no-sweeper',
    about: 'what was lost on the way is never driven again',
    edits: [
      {
        file: 'packages/engine/src/sweep.ts',
        find: `await step('redrive', () => redrive(parts))`,
        replace: ``,
      },
    ],
    breaks: ['I2'],
  },
  {
    name: 'audit-after-effect',
    about: 'the agent runs before its decision record is durable',
    edits: [
      {
        file: RECEIVE,
        find: `const receipt = await recordDecision(deps, claimed, { entry, span })`,
        replace: `const early = verdict.valid ? await executor.execute({ claimed, message: verdict.message, span }) : undefined
  const receipt = await recordDecision(deps, claimed, { entry, span })`,
      },
      {
        file: RECEIVE,
        find: `const execution = await executor.execute({ claimed, message: verdict.message, span })`,
        replace: `const execution = early as Awaited<ReturnType<typeof executor.execute>>`,
      },
    ],
    breaks: ['I4'],
  },
  {
    name: 'delete-before-publish',
    about:
      'outbox rows are deleted in a transaction of their own, before they are published, and the sweep that mends it is off',
    edits: [
      {
        file: 'packages/engine/src/relay-outbox.ts',
        find: `await claimOutbox(transaction, asked)`,
        replace: `await claimOutbox(pool, asked)`,
      },
      {
        file: 'packages/engine/src/sweep.ts',
        find: `await sweepStuck(pool, undeliveredMs)`,
        replace: `0`,
      },
    ],
    breaks: ['I2'],
  },
  {
    name: 'plain-job-id',
    about: 'every publication of a handoff has the same job id',
    edits: [
      {
        file: 'packages/transport/src/transport.ts',
        find: 'return `h-${handoffId}-${publishAttempt}`',
        replace: 'return `h-${handoffId}`.slice(0, publishAttempt * 1_000)',
      },
    ],
    breaks: ['I2'],
  },
  {
    name: 'worker-clock-leases',
    about: 'the worker’s own clock says how long a claim holds',
    edits: [
      {
        file: EXECUTIONS,
        find: `select h.id, 1, 'CLAIMED', $3, clock_timestamp() + $4 * interval '1 millisecond'`,
        replace: `select h.id, 1, 'CLAIMED', $3, to_timestamp($4::float8 / 1000)`,
      },
      {
        file: EXECUTIONS,
        find: `    owner,\n    leaseMs,\n  ])`,
        replace: `    owner,\n    Date.now() + leaseMs,\n  ])`,
      },
      {
        file: EXECUTIONS,
        find: `update execution e set lease_until = clock_timestamp() + $3 * interval '1 millisecond'`,
        replace: `update execution e set lease_until = to_timestamp($3::float8 / 1000)`,
      },
      {
        file: EXECUTIONS,
        find: `[...FENCES.values(leases), leaseMs]`,
        replace: `[...FENCES.values(leases), Date.now() + leaseMs]`,
      },
    ],
    breaks: ['I2', 'I10'],
  },
  {
    name: 'heartbeat-without-epoch',
    about: 'a heartbeat renews, and finds in order, the lease of whoever holds the handoff now',
    edits: [
      {
        file: EXECUTIONS,
        find: `where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and h.id = e.handoff_id\n  and e.status in \${LEASED} and \${MAY_GO_ON}`,
        replace: `where e.handoff_id = i.handoff_id and h.id = e.handoff_id\n  and e.status in \${LEASED} and \${MAY_GO_ON}`,
      },
      {
        file: EXECUTIONS,
        find: `(e.fencing_token = i.fencing_token and e.status in \${LEASED} and \${MAY_GO_ON}) as held`,
        replace: `(e.status in \${LEASED} and \${MAY_GO_ON}) as held`,
      },
    ],
    breaks: ['I7'],
  },
  {
    name: 'cost-on-duplicate',
    about: 'sending the same handoff again charges its task again',
    edits: [
      {
        file: 'packages/store/src/send.ts',
        find: `const reasons = refused.length === 0 ? new Map() : await whyNotSent(db, refused)`,
        replace: `const reasons = refused.length === 0 ? new Map() : await whyNotSent(db, refused)
  if (refused.length > 0) await run(db, 'charge_again',
    'update task set spent_micro_usd = spent_micro_usd + 50000 where id = any($1::uuid[])',
    [refused.map((handoff) => handoff.taskId)])`,
      },
    ],
    breaks: ['I9'],
  },
  {
    name: 'signature-after-parse',
    about: 'the bytes are parsed before their signature is verified',
    edits: [
      {
        file: 'packages/protocol/src/judge-handoff.ts',
        find: `const unsigned = checkSignature(delivery, options.keyRing)`,
        replace: `const early = parseMessage(delivery.bytes, limits)
  if (!early.ok)
    return reject('SCHEMA_INVALID', early.details, { ...NOT_CHECKED, size: 'passed', schema: 'failed' })
  const unsigned = checkSignature(delivery, options.keyRing)`,
      },
    ],
    breaks: ['I10'],
  },
  {
    name: 'rollback-outside-transaction',
    about: 'the task is rolled back in a transaction of its own, after the handoff has ended',
    edits: [
      {
        file: SETTLEMENTS,
        find: `checkpoint_id = coalesce(e.checkpoint_id, t.checkpoint_id),`,
        replace: ``,
      },
      {
        file: SETTLEMENTS,
        find: `status = case when t.cancel_requested then 'CANCELED' else e.task_status end,`,
        replace: ``,
      },
      {
        file: SETTLEMENTS,
        find: `  return settledIds(db, 'end_handoffs', END, values)`,
        replace: `  return endThenRollBack(db, endings, values)`,
      },
      {
        file: SETTLEMENTS,
        find: `export function endHandoffs(`,
        replace: `async function endThenRollBack(db: Database, endings: readonly Ending[], values: unknown[]) {
  const held = await settledIds(db, 'end_handoffs', END, values)
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await run(db, 'roll_back', \`update task t set status = i.status, checkpoint_id = h.checkpoint_id
    from unnest($1::uuid[], $2::text[]) as i(id, status), handoff h where h.id = i.id and t.id = h.task_id\`,
    [endings.map((one) => one.handoffId), endings.map((one) => one.taskStatus)])
  return held
}

export function endHandoffs(`,
      },
    ],
    breaks: ['I11'],
  },
  {
    name: 'told-before-sent',
    about: 'a reply to a session peer counts as told before the peer has it',
    edits: [
      {
        file: 'services/gateway/src/jsonrpc/replies.ts',
        find: `const code = await whyUntold(parts, reply, signal)`,
        replace: `await closeSessionReply(pool, handoffId)
  const code = await whyUntold(parts, reply, signal)`,
      },
    ],
    breaks: ['I17'],
  },
]

export const findKnownBad = (name: string): KnownBad | undefined =>
  KNOWN_BAD.find((build) => build.name === name)

/** The text with every edit made. Throws where a text to replace is not there exactly once. */
export function applyEdits(text: string, edits: readonly SourceEdit[]): string {
  return edits.reduce((edited, { file, find, replace }) => {
    const found = edited.split(find).length - 1
    if (found !== 1) throw new Error(`${file}: found ${found} times, expected once: ${find}`)
    return edited.replace(find, () => replace)
  }, text)
}
