// The commands about what somebody should hear of: alerts, and tasks that wait for a person.
import { Option } from 'commander'
import type { Command } from 'commander'
import { limit } from './arguments.ts'
import type { Run } from './arguments.ts'

const ALERT = 'alert id, or the first digits of one that is not closed'
const ESCALATION = 'id of the handoff or task that waits, or the first digits of one'
const WHY = ['--why <text>', 'one line for whoever reads the history'] as const

interface ListFlags {
  readonly limit: number
  readonly state?: string
  readonly kind?: string
  readonly severity?: string
}

export function addAlerts(program: Command, run: Run): void {
  const module = () => import('./commands/alerts.ts')
  const alerts = program.command('alerts').description('what somebody should hear of, by its cause')
  alerts
    .command('ls', { isDefault: true })
    .description('list those that are not closed, the newest first')
    .option('--limit <number>', 'how many', limit, 20)
    .addOption(
      new Option('--state <state>', 'only those of this state').choices([
        'open',
        'acknowledged',
        'closed',
      ]),
    )
    .addOption(new Option('--severity <severity>', 'only these').choices(['page', 'ticket']))
    .option('--kind <kind>', 'only of this kind, such as handoff.rolled_back')
    .action(run(async (context, flags: ListFlags) => (await module()).listAlerts(context, flags)))
  alerts
    .command('show')
    .description('show one, its newest handoffs and what became of it')
    .argument('<alert>', ALERT)
    .action(run(async (context, id: string) => (await module()).showAlert(context, id)))
  alerts
    .command('ack')
    .description('say that you look after it')
    .argument('<alert>', ALERT)
    .action(run(async (context, id: string) => (await module()).acknowledgeAlert(context, id)))
  alerts
    .command('close')
    .description('say that it is over; what comes after it is another alert')
    .argument('<alert>', ALERT)
    .requiredOption(...WHY)
    .action(
      run(async (context, id: string, { why }: { why: string }) =>
        (await module()).closeAlert(context, { id, why }),
      ),
    )
  alerts
    .command('test')
    .description('have every webhook told something that is no alert, and say which answer')
    .action(run(async (context) => (await module()).testWebhooks(context)))
}

export function addEscalations(program: Command, run: Run): void {
  const module = () => import('./commands/escalations.ts')
  const escalations = program.command('escalations').description('tasks that wait for a person')
  escalations
    .command('ls', { isDefault: true })
    .description('list those that wait, oldest first')
    .option('--limit <number>', 'how many', limit, 20)
    .addOption(
      new Option('--state <state>', 'only those of this state').choices([
        'open',
        'acknowledged',
        'resolved',
      ]),
    )
    .action(
      run(async (context, flags: Pick<ListFlags, 'limit' | 'state'>) =>
        (await module()).listEscalations(context, flags),
      ),
    )
  escalations
    .command('ack')
    .description('say that you look after it')
    .argument('<escalation>', ESCALATION)
    .action(run(async (context, id: string) => (await module()).acknowledgeEscalation(context, id)))
  escalations
    .command('resolve')
    .description('say that its task needs nobody any more; the task stays as it is')
    .argument('<escalation>', ESCALATION)
    .requiredOption(...WHY)
    .action(
      run(async (context, id: string, { why }: { why: string }) =>
        (await module()).resolveEscalation(context, { id, why }),
      ),
    )
}
