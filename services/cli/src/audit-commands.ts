// The commands for auditors: verifying, evidence, the policy to verify it with, where records stand, and drills.
import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { code, FEW_MAX, paged, TASK, wholeNumber } from './arguments.ts'
import type { Run } from './arguments.ts'
import type { PageFlags } from './commands/list-pages.ts'
import { addAdmin, addCost, addExport, addSearch } from './search-commands.ts'

interface VerifyFlags {
  readonly full?: boolean
  readonly policy?: string
  readonly rows?: string
}

export function addVerify(program: Command, run: Run): void {
  program
    .command('verify')
    .description(
      'prove that the audit log, one task of it, or a bundle of evidence is what was recorded',
    )
    .argument('[what]', `${TASK}, or the file of a bundle; the whole log without it`)
    .option(
      '--policy <file>',
      'the keys to verify a bundle against; never out of the bundle itself',
    )
    .option(
      '--full',
      'verify once more the signatures of batches and of older seals, which the newest seal vouches for',
    )
    .option(
      '--rows <file>',
      'hold rows of handoff_audit or handoff_events against the log: CSV or JSON, - for standard input',
    )
    .action(
      run(async (context, what: string | undefined, options: VerifyFlags) => {
        const { policy, rows } = options
        if (rows !== undefined) {
          const { verifyRows } = await import('./commands/verify-rows.ts')
          return verifyRows(context, { from: rows, task: what })
        }
        if (what !== undefined && (policy !== undefined || isMeantAsFile(what))) {
          const { verifyFile } = await import('./commands/verify-bundle.ts')
          return verifyFile(context, { file: what, policy })
        }
        const { verify } = await import('./commands/verify.ts')
        return verify(context, what, options)
      }),
    )
}

/** A file that is there, or a path: no id of a task has a dot or a slash. */
const isMeantAsFile = (what: string): boolean =>
  /[./\\]/.test(what) || statSync(what, { throwIfNoEntry: false })?.isFile() === true

interface EvidenceFlags {
  readonly out?: string
  readonly withPayloads?: boolean
  readonly policyOut?: string
}

export function addEvidence(program: Command, run: Run): void {
  program
    .command('evidence')
    .description('write everything that proves one task to a file that verifies without Baton')
    .argument('<task>', TASK)
    .option('--out <file>', 'where to write it (default: evidence-<task>.tar)')
    .option('--with-payloads', 'put in what was said; needs a permission of its own')
    .option('--policy-out <file>', 'also write the policy that it is verified against')
    .action(
      run(async (context, task: string, flags: EvidenceFlags) => {
        const { evidence } = await import('./commands/evidence.ts')
        const { out, policyOut, withPayloads = false } = flags
        return evidence(context, { task, out, policyOut, withPayloads })
      }),
    )
}

export function addPolicy(program: Command, run: Run): void {
  program
    .command('policy')
    .description('print the public keys that evidence is verified against')
    .option('--out <file>', 'write them to a file')
    .action(
      run(async (context, options: { out?: string }) =>
        (await import('./commands/policy.ts')).policy(context, options),
      ),
    )
}

export function addAudit(program: Command, run: Run): void {
  const audit = program.command('audit').description('what an audit log must be able to show')
  addSearch(audit, run)
  addAdmin(audit, run)
  addCost(audit, run)
  addExport(audit, run)
  addTiers(audit, run)
  audit
    .command('recover-seals')
    .description('make the sealer’s lost state file anew, where its anchors vouch for the database')
    .action(
      run(async (context) => (await import('./commands/recover-seals.ts')).recoverSeals(context)),
    )
  audit
    .command('mend-cold')
    .description('write anew what is missing in the cold store, while the database still has it')
    .action(run(async (context) => (await import('./commands/mend-cold.ts')).mendCold(context)))
  audit
    .command('drill')
    .description('rebuild a random past task against ten seconds, and record that')
    .option('--seed <number>', 'choose the same task again', wholeNumber(0))
    .action(
      run(async (context, { seed }: { seed?: number }) =>
        (await import('./commands/drill.ts')).drill(context, seed),
      ),
    )
}

function addTiers(audit: Command, run: Run): void {
  audit
    .command('tiers')
    .description('where the records stand: database, cold store, expired, held')
    .action(run(async (context) => (await import('./commands/tiers.ts')).tiers(context)))
  paged(audit.command('holds'), FEW_MAX)
    .description('which tasks are held, since when and by whom, proven by their records')
    .action(
      run(async (context, flags: PageFlags) =>
        (await import('./commands/holds.ts')).holds(context, flags),
      ),
    )
  audit
    .command('retention')
    .description(
      'what is kept where and until when, what is held by whom and why, what expires next',
    )
    .option('--out <file>', 'write it to a file that ends in .csv, .jsonl or .parquet')
    .action(
      run(async (context, { out }: { out?: string }) =>
        (await import('./commands/retention.ts')).retention(context, out),
      ),
    )
  for (const [name, held, what] of HOLDS) {
    audit
      .command(name)
      .description(what)
      .argument('<task>', TASK)
      .option('--reason <code>', 'why, such as COURT_ORDER; it goes on record', code)
      .action(
        run(async (context, task: string, { reason }: { reason?: string }) =>
          (await import('./commands/hold.ts')).hold(context, { task, held, reason }),
        ),
      )
  }
}

const HOLDS = [
  ['hold', true, 'keep the records of a task from every deletion, for a court or an inquiry'],
  ['unhold', false, 'let the records of a task go when their time is over'],
] as const
