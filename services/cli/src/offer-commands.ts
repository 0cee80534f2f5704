// The commands of protocol v0.1, in its own published forms: a folder of files is all they need.
import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import { STATUSES } from '@baton/protocol/dialects/handoff-v01'
import { collect, FEW_MAX, paged, positiveNumber } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'
import type { Context } from './context.ts'
import type { ExitCode } from './exit-codes.ts'

const ID = 'task id, or the first characters of one'
const offersModule = () => import('./commands/offers.ts')

type Pairs = Readonly<Record<string, string>>

// What follows is read one by one; all of them together are the context.
function pair(text: string, before: Pairs | undefined): Pairs {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Expected key=value.')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}

const withContext = (command: Command, what: string): Command =>
  command.addOption(new Option('--context <key=value...>', what).argParser(pair))

interface OfferFlags {
  readonly from: string
  readonly to?: string
  readonly context?: Pairs
}

export function addOffer(program: Command, run: Run): void {
  const offer = program
    .command('offer')
    .description('offer work to other agents, as a file in HANDOFF_DIR')
    .argument('<description>', 'what needs to be done')
    .requiredOption('--from <agent>', 'who offers it')
    .option('--to <agent>', 'who should receive it (default: anyone)')
  withContext(offer, 'what the receiver needs, such as file=src/auth.py line=42').action(
    run(async (context, description: string, { from, to, context: given }: OfferFlags) =>
      (await offersModule()).offer(context, { description, from, to, given }),
    ),
  )
}

export function addOffers(program: Command, run: Run): void {
  paged(program.command('list'), FEW_MAX)
    .description('list what is offered and what became of it, by id')
    .addOption(new Option('--status <status>', 'only those that stand so').choices(STATUSES))
    .option('--watch', 'go on and tell every change, until Ctrl-C')
    .option(
      '--webhook <url>',
      'with --watch: tell it this endpoint, signed with HANDOFF_WEBHOOK_SECRET',
    )
    .action(run(async (context, flags: ListFlags) => listOrWatch(context, flags)))
  program
    .command('show')
    .description('show an offered handoff')
    .argument('<id>', ID)
    .action(run(async (context, id: string) => (await offersModule()).show(context, id)))
  program
    .command('accept')
    .description('take an offered handoff; of several agents one gets it')
    .argument('<id>', ID)
    .requiredOption('--agent <agent>', 'who takes it')
    .action(
      run(async (context, id: string, { agent }: { agent: string }) =>
        (await offersModule()).accept(context, { id, agent }),
      ),
    )
  for (const step of STEPS) addStep(program, run, step)
}

interface Step {
  readonly verb: 'complete' | 'reject' | 'fail' | 'reoffer'
  readonly what: string
}

interface ListFlags extends PageFlags {
  readonly status?: string
  readonly watch?: boolean
  readonly webhook?: string
}

async function listOrWatch(context: Context, flags: ListFlags): Promise<ExitCode> {
  if (flags.watch !== true) return (await offersModule()).list(context, flags)
  return (await import('./commands/watch-offers.ts')).watchOffers(context, flags)
}

const STEPS: readonly Step[] = [
  { verb: 'complete', what: 'say that an accepted handoff is done' },
  { verb: 'reject', what: 'decline an offered handoff' },
  { verb: 'fail', what: 'say that an accepted handoff could not be done' },
  { verb: 'reoffer', what: 'offer a failed handoff again' },
]

interface StepFlags {
  readonly agent?: string
  readonly context?: Pairs
}

function addStep(program: Command, run: Run, { verb, what }: Step): void {
  const command = program
    .command(verb)
    .description(what)
    .argument('<id>', ID)
    .option('--agent <agent>', 'whose step it is; refused where the handoff is another agent’s')
  withContext(command, 'added to the context, such as result=done').action(
    run(async (context, id: string, { agent, context: given }: StepFlags) =>
      (await offersModule()).takeStep(context, { id, verb, agent, given }),
    ),
  )
}

interface ImportFlags {
  readonly watch?: boolean
  readonly agent: readonly string[]
  readonly budget: number
}

export function addImport(program: Command, run: Run): void {
  program
    .command('import')
    .description(
      'send offers that are addressed to agent types to them, and write back what became of them',
    )
    .option('--watch', 'go on until Ctrl-C')
    .option(
      '--agent <type>',
      'an agent type to take offers for; may be repeated (default: all that are live)',
      collect,
      [],
    )
    .option('--budget <usd>', 'what each may cost, in US dollars', positiveNumber, 1)
    .action(
      run(async (context, { watch = false, agent, budget }: ImportFlags) => {
        const { importFrom } = await import('./commands/import-offers.ts')
        return importFrom(context, { watch, agents: agent, budget })
      }),
    )
}
