// The commands about the scanner: what it says of a text, why, and by which model.
import type { Command } from 'commander'
import { limit, paged, since, wholeNumber } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'

interface ReleasedFlags extends PageFlags {
  readonly since?: string
  readonly text?: boolean
}

interface ShadowFlags {
  readonly since?: string
  readonly limit: number
}

interface PackFlags {
  readonly asVersion: number
  readonly out: string
}

export function addSafety(program: Command, run: Run): void {
  const safety = program
    .command('safety')
    .description('the scanner: what it says of a text, why, and by which model')
  safety
    .command('test')
    .description(
      'judge a file by the rules and the model of this version, without an instance: exit 0 where a receiver would take it (allow or flag), 1 where it would reject it, others where it cannot be read',
    )
    .argument('<file>', 'a handoff message as JSON, or any text; - for standard input')
    .option('--text', 'read it as text even where it begins like JSON')
    .action(
      run(async (context, file: string, { text = false }: { text?: boolean }) =>
        (await import('./commands/safety-test.ts')).safetyTest(context, { file, text }),
      ),
    )
  safety
    .command('explain')
    .description(
      'what a rule looks for, what it may cause and what to do; or what was found in a handoff that was stopped',
    )
    .argument(
      '<rule-or-handoff>',
      'id of a rule, or of a dead letter’s handoff or task (its first digits are enough)',
    )
    .action(
      run(async (context, named: string) =>
        (await import('./commands/safety-explain.ts')).safetyExplain(context, named),
      ),
    )
  safety
    .command('sign')
    .description(
      'sign the exemptions of a file that you have not signed, and print the file with your signatures',
    )
    .argument('<file>', 'the file of BATON_EXEMPTIONS; infra/safety.md shows one')
    .action(
      run(async (context, file: string) =>
        (await import('./commands/safety-sign.ts')).safetySign(context, file),
      ),
    )
  paged(safety.command('released'), 100)
    .description(
      'what the scanner stopped and reviewers released as it was, oldest first, a line for each finding (JSON lines with --json)',
    )
    .option('--since <time>', 'decided from a day or a time on (UTC)', since)
    .option('--text', 'also the text under each finding; who reads it is on record')
    .action(
      run(async (context, { since: from, text = false, ...flags }: ReleasedFlags) => {
        const { safetyReleased } = await import('./commands/safety-released.ts')
        return safetyReleased(context, { since: from, flags, text })
      }),
    )
  addArtefacts(safety, run)
}

function addArtefacts(safety: Command, run: Run): void {
  safety
    .command('key')
    .description('make a key that signs artefacts of the scanner')
    .argument('<name>', 'how records name who signed')
    .action(
      run(async (context, name: string) =>
        (await import('./commands/safety-pack.ts')).makeArtefactKey(context, name),
      ),
    )
  safety
    .command('pack')
    .description(
      'test a model and sign it as an artefact, which gateways and receivers take without a restart',
    )
    .argument(
      '[model]',
      'what train-model.ts --out has written, or an earlier artefact to step back to; the model of this version by default',
    )
    .requiredOption(
      '--as-version <number>',
      'higher than any before',
      wholeNumber(1, 2_147_483_647),
    )
    .requiredOption('--out <file>', 'where to write it')
    .action(
      run(async (context, model: string | undefined, { asVersion, out }: PackFlags) => {
        const { safetyPack } = await import('./commands/safety-pack.ts')
        return safetyPack(context, { model, version: asVersion, out })
      }),
    )
  safety
    .command('shadow')
    .description(
      'where a candidate of the scanner decided otherwise than the one that judged, newest first (JSON lines with --json)',
    )
    .option('--since <time>', 'compared from a day or a time on (UTC)', since)
    .option('--limit <number>', 'how many', limit, 100)
    .action(
      run(async (context, { since: from, limit: most }: ShadowFlags) => {
        const { safetyShadow } = await import('./commands/safety-shadow.ts')
        return safetyShadow(context, { since: from, limit: most })
      }),
    )
}
