// The commands and their arguments. Each command's code is loaded only when it runs, so that help is instant.
import { Command, CommanderError, Option } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { addAlerts, addEscalations } from './alert-commands.ts'
import { addEvents, addSubscriptions } from './event-commands.ts'
import { collect, httpUrl, positiveNumber, wholeNumber } from './arguments.ts'
import type { Run } from './arguments.ts'
import { addBackup, addRestore } from './backup-commands.ts'
import { addCerts } from './certificate-commands.ts'
import { addAudit, addEvidence, addPolicy, addVerify } from './audit-commands.ts'
import type { InitOptions } from './commands/init.ts'
import type { Context } from './context.ts'
import { addErase, addErasures, addSubject } from './erasure-commands.ts'
import { EXIT } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import { addDeadLetters } from './dead-letter-commands.ts'
import { addKeys } from './key-commands.ts'
import { addPeople } from './people-commands.ts'
import type { QueueChoice } from './instance/queue.ts'
import { addSlo, addTop } from './level-commands.ts'
import { addImport, addOffer, addOffers } from './offer-commands.ts'
import { addEnv, addMcp, addNew } from './program-commands.ts'
import { addSafety } from './safety-commands.ts'
import { addSchema } from './schema-commands.ts'
import {
  addAgents,
  addApprovals,
  addCancel,
  addResult,
  addStream,
  addTask,
  addTasks,
  addTrace,
} from './task-commands.ts'
import { addTenants } from './tenant-commands.ts'
import { failureLine } from './terminal/describe-error.ts'
import { COMMAND } from './terminal/next-steps.ts'

export interface GlobalOptions {
  readonly json?: boolean
  readonly home?: string
  readonly as?: string
}

interface ProgramOptions {
  /** Makes a command's context once its global options are known. */
  readonly openContext: (globals: GlobalOptions) => Promise<Context>
  readonly writeOut: (text: string) => void
  readonly writeError: (text: string) => void
}

const EXAMPLES = `
Examples:
  ${COMMAND} up --once              review all installed licences and stop
  ${COMMAND} review-contract FILE   review a text of your own
  ${COMMAND} trace 7f3c91de         what happened to a task, hop by hop
  ${COMMAND} verify                 prove that the audit log is what was recorded
  ${COMMAND} evidence 7f3c91de      everything that proves a task, for an outsider

Exit codes: 0 fine, 1 failure, 2 usage, 3 verification failed, 4 incomplete, 5 not found,
6 not allowed, 130 interrupted.`

/** Runs one command line (without the words `node main.ts`). Throws what the command throws. */
export async function runProgram(
  args: readonly string[],
  options: ProgramOptions,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.fine
  const run: Run =
    <Given extends readonly unknown[]>(
      work: (context: Context, ...given: Given) => Promise<ExitCode>,
    ) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command
      const context = await options.openContext(command.optsWithGlobals<GlobalOptions>())
      exitCode = await work(context, ...(given as unknown as Given))
    }
  const program = createProgram(options, run)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.fine
      if (asksForJson(args)) options.writeOut(failureLine(usageFailure(error)))
      return EXIT.usage
    }
    throw error
  }
}

/** Before anything is parsed, for what cannot be parsed is told as JSON too; behind `--` words are arguments. */
export function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end === -1 ? args : args.slice(0, end)).includes('--json')
}

const usageFailure = ({ code, message }: CommanderError) => ({
  code: 'BATON_USAGE',
  message: code === 'commander.help' ? 'no command was given' : message.replace(/^error: /, ''),
  place: /(?<=['"])[^'"]+(?=['"])/.exec(message)?.[0] ?? null,
  fix: 'The same command with --help says what it takes.',
  exitCode: EXIT.usage,
})

/** The commands as they are defined, without running any: for the page that lists them. */
export function createProgram({ writeOut, writeError }: ProgramOptions, run: Run): Command {
  const program = new Command('baton')
    .description(
      'Moves work between AI agents so that nothing is lost and everything can be proved.',
    )
    .version(manifest.version, '--version', 'print the version')
    .option('--json', 'print data as JSON on stdout')
    .option(
      '--home <folder>',
      'folder of the embedded instance (default: .baton in the checkout, or here)',
    )
    .option('--as <name>', 'who acts: operator, reviewer-1 or reviewer-2 (default: operator)')
    .addHelpText('after', EXAMPLES)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut, writeErr: writeError })
    .showHelpAfterError('(--help says more)')
    .exitOverride()
  for (const add of COMMANDS) add(program, run)
  return program
}

const COMMANDS: readonly ((program: Command, run: Run) => void)[] = [
  addUp,
  addReviewContract,
  addSend,
  addTrace,
  addResult,
  addVerify,
  addEvidence,
  addErase,
  addErasures,
  addSubject,
  addPolicy,
  addAudit,
  addTasks,
  addTask,
  addStream,
  addDeadLetters,
  addPeople,
  addTenants,
  addKeys,
  addCerts,
  addApprovals,
  addAlerts,
  addEscalations,
  addEvents,
  addSubscriptions,
  addCancel,
  addAgents,
  addEnv,
  addMcp,
  addNew,
  addSlo,
  addTop,
  addOffer,
  addOffers,
  addImport,
  addDashboards,
  addGameDay,
  addDoctor,
  addSettings,
  addSafety,
  addSchema,
  addMigrate,
  addInit,
  addBackup,
  addRestore,
]

interface QueueOptions {
  readonly redis?: boolean
}

const withQueue = (command: Command): Command =>
  command
    .option('--redis', 'use Redis for the queue, fetching one when there is none')
    .option('--no-redis', 'use no Redis')

function queueOf({ redis }: QueueOptions): QueueChoice {
  if (redis === undefined) return 'any'
  return redis ? 'redis' : 'none'
}

interface UpFlags extends QueueOptions {
  readonly once?: boolean
  readonly reviews?: number
  readonly tls?: boolean
}

function addUp(program: Command, run: Run): void {
  withQueue(program.command('up'))
    .description('start everything, review all installed licences, and stay up')
    .option('--once', 'stop when the reviews are done; fails when any promise was broken')
    .option('--tls', 'run everything on TLS with certificates of both sides, from now on')
    .option('--no-tls', 'run everything in plain text on this machine again')
    .option('--reviews <number>', 'review so many licences at most (default: all)', wholeNumber(1))
    .action(
      run(async (context, options: UpFlags) => {
        const { up } = await import('./commands/up.ts')
        const { once = false, reviews = Infinity, tls } = options
        return up(context, { once, reviews, tls, queue: queueOf(options) })
      }),
    )
}

function addReviewContract(program: Command, run: Run): void {
  withQueue(program.command('review-contract'))
    .description('review a contract or licence of your own')
    .argument('<file>', 'a text file, or - for standard input')
    .action(
      run(async (context, file: string, options: QueueOptions) => {
        const { reviewContract } = await import('./commands/review-contract.ts')
        return reviewContract(context, { file, queue: queueOf(options) })
      }),
    )
}

interface SendFlags extends QueueOptions {
  readonly to: string
  readonly file?: string
  readonly description?: string
  readonly state?: string
  readonly constraint: readonly string[]
  readonly budget: number
  readonly wait: boolean
  readonly mode: 'async' | 'sync'
  readonly timeout: number
}

function addSend(program: Command, run: Run): void {
  withQueue(program.command('send'))
    .description('send a handoff and wait until its task has ended')
    .requiredOption('--to <agent>', 'agent type that shall receive it')
    .option(
      '--file <file>',
      'agent state as JSON, as buildHandoffMessage takes it; - for standard input',
    )
    .option(
      '--description <text>',
      'what the receiver shall do, after the work done that --file tells',
    )
    .option('--state <json>', 'the current state, a JSON object')
    .option('--constraint <text>', 'a constraint for the receiver; may be repeated', collect, [])
    .option('--budget <usd>', 'what the task may cost, in US dollars', positiveNumber, 1)
    .option('--no-wait', 'only commit it; it is delivered when the services run')
    .addOption(
      new Option('--mode <mode>', 'sync: brought to a receiver by a direct call, else by the queue')
        .choices(['async', 'sync'])
        .default('async'),
    )
    .option('--timeout <seconds>', 'how long to wait for the end of the task', positiveNumber, 60)
    .action(
      run(async (context, flags: SendFlags) => {
        const { send } = await import('./commands/send.ts')
        return send(context, { ...flags, queue: queueOf(flags) })
      }),
    )
}

function addDashboards(program: Command, run: Run): void {
  program
    .command('dashboards')
    .description('draw the dashboards from a Prometheus onto one page, without Grafana')
    .option('--prometheus <url>', 'where Prometheus answers', httpUrl, 'http://127.0.0.1:9090')
    .option('--out <file>', 'the page that is written', 'baton-dashboards.html')
    .option('--minutes <number>', 'how far back it looks', wholeNumber(1), 60)
    .action(
      run(async (context, options: { prometheus: string; out: string; minutes: number }) => {
        const { dashboards } = await import('./commands/dashboards.ts')
        return dashboards(context, options)
      }),
    )
}

function addGameDay(program: Command, run: Run): void {
  program
    .command('gameday')
    .description('break an instance of its own on purpose, and show the alert come and go')
    .argument('[name]', 'one of the game days, or all; without it they are listed')
    .option('--in <folder>', 'an empty folder for its instance, which is kept')
    .action(
      run(async (context, name: string | undefined, options: { in?: string }) =>
        (await import('./commands/gameday.ts')).gameday(context, name, options),
      ),
    )
}

function addDoctor(program: Command, run: Run): void {
  program
    .command('doctor')
    .description('check every promise on the live system and name what is missing')
    .action(run(async (context) => (await import('./commands/doctor.ts')).doctor(context)))
}

function addSettings(program: Command, run: Run): void {
  program
    .command('settings')
    .description('list the settings of every service')
    .argument('[service]', 'only those of one service')
    .action(
      run(async (context, service: string | undefined) =>
        (await import('./commands/settings.ts')).settings(context, service),
      ),
    )
}

function addMigrate(program: Command, run: Run): void {
  program
    .command('migrate')
    .description('create or update the databases, roles and chains')
    .option('--dry-run', 'only say what would be applied, and which tables it locks meanwhile')
    .action(
      run(async (context, options: { readonly dryRun?: boolean }) =>
        (await import('./commands/migrate.ts')).migrate(context, options),
      ),
    )
}

function addInit(program: Command, run: Run): void {
  program
    .command('init')
    .description('make an installation on servers of your own: roles, keys, settings, units')
    .argument('<folder>', 'a folder for it; run again with the same folder, it keeps all keys')
    .option('--database <url>', 'a superuser of your Postgres')
    .option('--audit-database <url>', 'one of another server for the audit databases')
    .option(
      '--redis <url>',
      'your Redis: one server, redis+sentinel:// or redis+cluster://; without it receivers relay for themselves',
    )
    .option('--environment <name>', 'what this installation is called in its log', 'production')
    .option(
      '--host <process=name>',
      'where a process is reached, or one name for all (default: this machine alone)',
      collect,
      [],
    )
    .option(
      '--first-port <number>',
      'the port of the gateway; the others follow it, up to 16 higher',
      wholeNumber(1, 65_000),
      8_420,
    )
    .option('--tls', 'TLS between processes on one machine too')
    .option('--no-tls', 'no certificates')
    .option('--plaintext', 'allow plain text between machines: the network itself encrypts')
    .option('--ca <file>', 'who vouches for the certificates of Postgres and Redis')
    .option('--client-certificates', 'callers of the gateway need a certificate too', false)
    .option(
      '--person <name:role+role>',
      'who decides, reviewer or compliance; with their public key behind it where they have one (people key)',
      collect,
      [],
    )
    .option('--tenant <name>', 'a tenant; may be repeated', collect, [])
    .option('--witness <key url>', 'a witness that others run: its verifier key and its URL')
    .option('--anchor <file>', 'a file elsewhere that gets the checkpoints of the log')
    .option('--cold <folder>', 'where archived records are kept: a folder, or s3://bucket')
    .option('--state <folder>', 'where processes keep their state (default: state in the folder)')
    .option('--agents <module>', 'the agents that receivers host (default: the contract review)')
    .action(
      run(async (context, folder: string, options: InitOptions) =>
        (await import('./commands/init.ts')).init(context, folder, options),
      ),
    )
}
