// The command about versions of schemas.
import type { Command } from 'commander'
import type { Run } from './arguments.ts'

export function addSchema(program: Command, run: Run): void {
  const schema = program
    .command('schema')
    .description('versions of the published schemas, and whether they are compatible')
  schema
    .command('diff <older> <newer>')
    .description(
      'what changed, and whom it breaks: exit 0 where nobody, 1 otherwise; each a file, or a version such as handoff/2.1',
    )
    .action(
      run(async (context, older: string, newer: string) =>
        (await import('./commands/schema-diff.ts')).schemaDiff(context, older, newer),
      ),
    )
}
