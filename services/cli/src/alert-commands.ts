// The commands about what somebody should hear of: alerts, and tasks that wait for a person.
import { Option } from 'commander'
import type { Command } from 'commander'
import { paged, span } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { ListOptions } from './commands/alerts.ts'
import type { Selection } from './commands/handle-many.ts'
import type { PageFlags } from './commands/list-pages.ts'
import type { Context } from './context.ts'
import type { ExitCode } from './exit-codes.ts'

const IDS = {
  alert: 'alert id, or the first digits of one that is not closed',
  escalation: 'id of the handoff or task that waits, or the first digits of one',
} as const
const WHY = ['--why <text>', 'one line for whoever reads the history'] as const

interface SelectionFlags {
  readonly kind?: string
  readonly severity?: string
  readonly reason?: string
  readonly sender?: string
  readonly from?: string
  readonly to?: string
  readonly olderThan?: number
}

interface ListFlags extends SelectionFlags, PageFlags {
  readonly state?: string
}

interface HandleFlags extends SelectionFlags {
  readonly why?: string
  readonly yes?: true
}

const meaningEscalations = (command: Command): Command =>
  command
    .option('--reason <code>', 'only of this reason')
    .option('--from <prefix>', 'only where the agent that handed on begins so')
    .option('--to <prefix>', 'only where the agent that was handed to begins so')
    .option('--older-than <span>', 'only what came last so long ago: 90m, 12h, 7d', span)

const meaningAlerts = (command: Command): Command =>
  meaningEscalations(command)
    .addOption(new Option('--severity <severity>', 'only these').choices(['page', 'ticket']))
    .option('--kind <kind>', 'only of this kind, such as handoff.rolled_back')
    .option('--sender <name>', 'only what this operator or agent opened by what it sent')

function selectionOf(flags: SelectionFlags): Selection {
  const { kind, severity, reason, sender, from, to, olderThan } = flags
  const before = olderThan === undefined ? undefined : new Date(Date.now() - olderThan)
  const selection = {
    kind,
    severity,
    reason,
    sender,
    fromPrefix: from,
    toPrefix: to,
    before: before?.toISOString(),
  }
  return Object.fromEntries(Object.entries(selection).filter(([, value]) => value !== undefined))
}

interface Handling {
  readonly what: 'alert' | 'escalation'
  readonly act: 'acknowledge' | 'close' | 'resolve'
  /** What is done to one that is named; `why` is empty where none is asked for. */
  one(context: Context, id: string, why: string): Promise<ExitCode>
}

/** One that is named, or as many as the options mean. */
const handling = (command: Command, run: Run, { what, act, one }: Handling): Command =>
  command
    .argument(`[${what}]`, `${IDS[what]}; without it, options say which`)
    .option('--yes', 'with options: do it; without, only say how many that are')
    .action(
      run(async (context, id: string | undefined, flags: HandleFlags) => {
        const { handleMany, oneOrMany } = await import('./commands/handle-many.ts')
        const { why, yes } = flags
        const selection = selectionOf(flags)
        return oneOrMany(id, selection, {
          one: (named) => one(context, named, why ?? ''),
          many: () => handleMany(context, { what, act, selection, why, isSure: yes === true }),
        })
      }),
    )

const stateOption = (states: readonly string[]): Option =>
  new Option('--state <state>', 'only those of this state').choices(states)

const MINUTE_MS = 60_000

async function listOptions(flags: ListFlags): Promise<ListOptions> {
  const { typedAgain } = await import('./commands/list-pages.ts')
  const { limit: most, cursor, all, state, ...selection } = flags
  const { kind, severity, reason, sender, from, to, olderThan } = selection
  const age = olderThan === undefined ? undefined : `${Math.ceil(olderThan / MINUTE_MS)}m`
  const typed = { kind, severity, reason, sender, from, to, 'older-than': age, state, limit: most }
  return {
    filter: { ...selectionOf(selection), state },
    flags: { limit: most, cursor, all },
    typed: typedAgain(typed),
  }
}

export function addAlerts(program: Command, run: Run): void {
  const module = () => import('./commands/alerts.ts')
  const alerts = program.command('alerts').description('what somebody should hear of, by its cause')
  paged(meaningAlerts(alerts.command('ls', { isDefault: true })))
    .description('list those that are not closed, the newest first')
    .addOption(stateOption(['open', 'acknowledged', 'closed']))
    .action(
      run(async (context, flags: ListFlags) =>
        (await module()).listAlerts(context, await listOptions(flags)),
      ),
    )
  alerts
    .command('show')
    .description('show one, its newest handoffs and what became of it')
    .argument('<alert>', IDS.alert)
    .action(run(async (context, id: string) => (await module()).showAlert(context, id)))
  handling(meaningAlerts(alerts.command('ack')), run, {
    what: 'alert',
    act: 'acknowledge',
    one: async (context, id) => (await module()).acknowledgeAlert(context, id),
  }).description('say that you look after one, or after many at once')
  handling(meaningAlerts(alerts.command('close')), run, {
    what: 'alert',
    act: 'close',
    one: async (context, id, why) => (await module()).closeAlert(context, { id, why }),
  })
    .description('say that one is over, or many at once; what comes after it is another alert')
    .requiredOption(...WHY)
  alerts
    .command('test')
    .description('have every webhook told something that is no alert, and say which answer')
    .action(run(async (context) => (await module()).testWebhooks(context)))
}

export function addEscalations(program: Command, run: Run): void {
  const module = () => import('./commands/escalations.ts')
  const escalations = program.command('escalations').description('tasks that wait for a person')
  paged(meaningEscalations(escalations.command('ls', { isDefault: true })))
    .description('list those that wait, oldest first')
    .addOption(stateOption(['open', 'acknowledged', 'resolved']))
    .action(
      run(async (context, flags: ListFlags) =>
        (await module()).listEscalations(context, await listOptions(flags)),
      ),
    )
  handling(meaningEscalations(escalations.command('ack')), run, {
    what: 'escalation',
    act: 'acknowledge',
    one: async (context, id) => (await module()).acknowledgeEscalation(context, id),
  }).description('say that you look after one, or after many at once')
  handling(meaningEscalations(escalations.command('resolve')), run, {
    what: 'escalation',
    act: 'resolve',
    one: async (context, id, why) => (await module()).resolveEscalation(context, { id, why }),
  })
    .description('say that one needs nobody any more, or many at once; the tasks stay as they are')
    .requiredOption(...WHY)
}
