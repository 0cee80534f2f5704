// The questions that are asked of the whole log, and how times and money are given.
import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { code, collect, numberBetween, since, TASK, until, wholeNumber } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { CostKey } from './commands/cost.ts'

const MONEY_MAX = 1_000_000_000

const KEYS: Readonly<Record<string, readonly CostKey[]>> = {
  agent: ['agent'],
  pair: ['agent', 'to'],
  day: ['day'],
}

function costKeys(text: string): readonly CostKey[] {
  const keys = text.split(',').map((name) => KEYS[name])
  if (keys.every((key) => key !== undefined)) return [...new Set(keys.flat())]
  throw new InvalidArgumentError(`Expected some of ${Object.keys(KEYS).join(', ')}, with commas.`)
}

const FILE =
  'write all of it to a file that ends in .csv, .jsonl or .parquet; it is recorded that you did'

interface CriteriaFlags {
  readonly task?: string
  readonly subject?: string
  readonly agent?: string
  readonly from?: string
  readonly to?: string
  readonly decidedBy?: string
  readonly event: readonly string[]
  readonly reason?: string
  readonly since?: string
  readonly until?: string
  readonly minCost?: number
  readonly maxCost?: number
}

interface SearchFlags extends CriteriaFlags {
  readonly limit?: number
  readonly cursor?: string
  readonly out?: string
}

function addCriteria(command: Command): void {
  command
    .option('--task <task>', TASK)
    .option('--subject <id>', 'a person whose data was handed over')
    .option('--agent <type>', 'an agent, sending or receiving')
    .option('--from <type>', 'the agent that sent')
    .option('--to <type>', 'the agent that received')
    .option('--decided-by <who>', 'the person who acted, or the agent whose checks decided')
    .option('--event <event>', 'an event such as HANDOFF_REJECTED; may be repeated', collect, [])
    .option('--reason <code>', 'a reason such as SAFETY_VIOLATION', code)
    .option('--since <time>', 'from a day or a time on (UTC)', since)
    .option('--until <time>', 'up to and with a day, or up to a time (UTC)', until)
    .option('--min-cost <usd>', 'tasks that had spent as much', numberBetween(0, MONEY_MAX))
    .option('--max-cost <usd>', 'tasks that had spent no more', numberBetween(0, MONEY_MAX))
}

export function addSearch(audit: Command, run: Run): void {
  const command = audit
    .command('search')
    .description('find records in the whole log, database and cold store, each with its proof')
  addCriteria(command)
  command
    .option(
      '--limit <number>',
      'how many records (default: 50; 100000 in a file)',
      wholeNumber(1, 100_000),
    )
    .option('--cursor <cursor>', 'go on where a search ended')
    .option('--out <file>', FILE)
    .action(
      run(async (context, flags: SearchFlags) => {
        const { search } = await import('./commands/search.ts')
        const { limit, cursor, out } = flags
        return search(context, { criteria: criteriaOf(flags), limit, cursor, out })
      }),
    )
}

interface AdminFlags {
  readonly by?: string
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly cursor?: string
  readonly out?: string
}

export function addAdmin(audit: Command, run: Run): void {
  audit
    .command('admin')
    .description(
      'what was done to keys, tenants, settings and databases, and who read protected text',
    )
    .option('--by <who>', 'the person, or the process, that did it')
    .option('--since <time>', 'from a day or a time on (UTC)', since)
    .option('--until <time>', 'up to and with a day, or up to a time (UTC)', until)
    .option(
      '--limit <number>',
      'how many records (default: 50; 100000 in a file)',
      wholeNumber(1, 100_000),
    )
    .option('--cursor <cursor>', 'go on where a list ended')
    .option('--out <file>', FILE)
    .action(
      run(async (context, { by, since: from, until: to, limit, cursor, out }: AdminFlags) => {
        const { admin } = await import('./commands/admin.ts')
        return admin(context, { decidedBy: by, since: from, until: to, limit, cursor, out })
      }),
    )
}

/** What was not given is left out. */
function criteriaOf(flags: CriteriaFlags) {
  const criteria = {
    taskId: flags.task,
    subject: flags.subject,
    agent: flags.agent,
    fromAgent: flags.from,
    toAgent: flags.to,
    decidedBy: flags.decidedBy,
    events: flags.event.length === 0 ? undefined : flags.event,
    reason: flags.reason,
    since: flags.since,
    until: flags.until,
    minCostUSD: flags.minCost,
    maxCostUSD: flags.maxCost,
  }
  return Object.fromEntries(Object.entries(criteria).filter(([, value]) => value !== undefined))
}

interface ExportFlags extends CriteriaFlags {
  readonly out: string
  readonly withPayloads?: boolean
}

export function addExport(audit: Command, run: Run): void {
  const command = audit
    .command('export')
    .description(
      'write everything that proves the tasks of an agent, a person or a time to one file',
    )
  addCriteria(command)
  command
    .requiredOption('--out <file>', 'where to write it')
    .option('--with-payloads', 'put in what was said; needs a permission of its own')
    .action(
      run(async (context, flags: ExportFlags) => {
        const { exportTasks } = await import('./commands/export-tasks.ts')
        const { out, withPayloads = false } = flags
        return exportTasks(context, { criteria: criteriaOf(flags), out, withPayloads })
      }),
    )
}

interface CostFlags {
  readonly by: readonly CostKey[]
  readonly since?: string
  readonly until?: string
  readonly out?: string
}

export function addCost(audit: Command, run: Run): void {
  audit
    .command('cost')
    .description('what was spent, in money and tokens, by agent, pair of agents and day')
    .option('--by <keys>', 'agent, pair, day, or several with commas', costKeys, ['agent'])
    .option('--since <time>', 'from a day or a time on (UTC)', since)
    .option('--until <time>', 'up to and with a day, or up to a time (UTC)', until)
    .option('--out <file>', FILE)
    .action(
      run(async (context, { by, since: from, until: to, out }: CostFlags) =>
        (await import('./commands/cost.ts')).cost(context, { by, since: from, until: to, out }),
      ),
    )
}
