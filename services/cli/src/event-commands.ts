// The commands about events for programs outside: what there is, and who is told of it.
import { Option } from 'commander'
import type { Command } from 'commander'
import { paged, span } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'

interface EventFlags {
  readonly type?: string
  readonly task?: string
  readonly from?: string
  readonly to?: string
  readonly reason?: string
  readonly since?: number
  readonly after?: string
  readonly follow?: true
  readonly limit: number
}

export function addEvents(program: Command, run: Run): void {
  program
    .command('events')
    .description('what programs outside are told: steps of handoffs, escalations and alerts')
    .option('--follow', 'go on with what comes, until Ctrl-C')
    .option('--type <types>', 'only these, with commas between them; * at the end is any ending')
    .option('--task <id>', 'only of this task')
    .option('--from <agent>', 'only of this agent')
    .option('--to <type>', 'only to this agent type')
    .option('--reason <code>', 'only of this reason')
    .option('--since <span>', 'from so long ago on: 90m, 12h, 7d', span)
    .option('--after <id>', 'from behind this event on')
    .addOption(
      new Option('--limit <number>', 'how many, without --follow').default(20).argParser(Number),
    )
    .action(
      run(async (context, { task, from, to, ...flags }: EventFlags) => {
        const { showEvents } = await import('./commands/events.ts')
        return showEvents(context, { ...flags, taskId: task, fromAgent: from, toAgent: to })
      }),
    )
}

const WHICH = ['<subscription>', 'its name, its id or the first digits of it'] as const

interface MakeFlags {
  readonly url: string
  readonly binary?: true
  readonly type?: string
  readonly filters?: string
}

interface ReplayFlags {
  readonly since?: number
  readonly after?: string
}

export function addSubscriptions(program: Command, run: Run): void {
  const module = () => import('./commands/subscriptions.ts')
  const subscriptions = program
    .command('subscriptions')
    .description('webhooks that are told of events, and how that goes')
  paged(subscriptions.command('ls', { isDefault: true }))
    .description('list them')
    .action(
      run(async (context, flags: PageFlags) => (await module()).listSubscriptions(context, flags)),
    )
  subscriptions
    .command('create')
    .description('have a webhook told from now on; its secret is shown this once')
    .argument('<name>', 'what it is called here')
    .requiredOption('--url <url>', 'https, at an address of the public internet')
    .option(
      '--binary',
      'the data as the body and the attributes as headers, instead of the whole event',
    )
    .option('--type <types>', 'only these, with commas between them; * at the end is any ending')
    .option('--filters <json>', 'filters of the CloudEvents Subscriptions API')
    .action(
      run(async (context, name: string, flags: MakeFlags) =>
        (await module()).makeSubscription(context, { name, ...flags }),
      ),
    )
  subscriptions
    .command('show')
    .description('show one, and what its consumer did not take')
    .argument(...WHICH)
    .action(
      run(async (context, which: string) => (await module()).showSubscription(context, which)),
    )
  for (const [act, says] of [
    ['pause', 'send nothing until it is resumed; what happens waits'],
    ['resume', 'send what waits, at once'],
    ['test', 'have it told something that is no event of a handoff'],
    ['delete', 'tell it nothing more, and forget what waits'],
  ] as const)
    subscriptions
      .command(act)
      .description(says)
      .argument(...WHICH)
      .action(
        run(async (context, which: string) => (await module()).actOn(context, { which, act })),
      )
  addSubscriptionHistory(subscriptions, run)
}

function addSubscriptionHistory(subscriptions: Command, run: Run): void {
  const module = () => import('./commands/subscriptions.ts')
  subscriptions
    .command('rotate')
    .description(
      'sign with another secret, shown this once; the one of before signs beside it for a while',
    )
    .argument(...WHICH)
    .addOption(new Option('--overlap-hours <number>', 'for how long').default(24).argParser(Number))
    .action(
      run(async (context, which: string, { overlapHours }: { overlapHours: number }) =>
        (await module()).rotateSecret(context, { which, overlapHours }),
      ),
    )
  subscriptions
    .command('replay')
    .description('tell events again, under the same ids')
    .argument(...WHICH)
    .option('--since <span>', 'from so long ago on: 90m, 12h, 7d', span)
    .option('--after <id>', 'from behind this event on')
    .action(
      run(async (context, which: string, flags: ReplayFlags) =>
        (await module()).replay(context, { which, ...flags }),
      ),
    )
  paged(subscriptions.command('deliveries'))
    .description('list events that were not taken at the first try, the newest first')
    .argument(...WHICH)
    .addOption(
      new Option('--state <state>', 'only these; dead are those that were given up').choices([
        'waiting',
        'delivered',
        'dead',
      ]),
    )
    .action(
      run(async (context, which: string, { state, ...flags }: PageFlags & { state?: string }) =>
        (await module()).listDeliveries(context, { which, state, flags }),
      ),
    )
  subscriptions
    .command('redrive')
    .description('try again what was given up: these events, or all')
    .argument(...WHICH)
    .argument('[event...]', 'ids of events')
    .action(
      run(async (context, which: string, eventIds: readonly string[]) =>
        (await module()).redrive(context, { which, eventIds }),
      ),
    )
}
