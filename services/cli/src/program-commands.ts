// The commands for those who write programs and agents of their own.
import { Option } from 'commander'
import type { Command } from 'commander'
import type { Run } from './arguments.ts'

const FORMATS = ['shell', 'dotenv'] as const

export function addEnv(program: Command, run: Run): void {
  program
    .command('env')
    .description('print what a program of your own needs to join the Baton that runs here')
    .addOption(
      new Option('--format <format>', 'lines for a shell, or for a file of settings')
        .choices(FORMATS)
        .default('shell'),
    )
    .option('--tenant <name>', 'begin tasks of this tenant')
    .action(
      run(
        async (
          context,
          { format, tenant }: { format: (typeof FORMATS)[number]; tenant: string | undefined },
        ) => (await import('./commands/env.ts')).env(context, { format, tenant }),
      ),
    )
}
