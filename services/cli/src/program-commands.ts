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

export function addMcp(program: Command, run: Run): void {
  program
    .command('mcp')
    .description('serve the Model Context Protocol over standard input and output, until it ends')
    .action(run(async (context) => (await import('./commands/mcp.ts')).mcp(context)))
}

const LANGUAGES = ['typescript', 'python'] as const

export function addNew(program: Command, run: Run): void {
  program
    .command('new')
    .description('begin something of your own')
    .command('agent')
    .description('write an agent that runs in a minute, and a program that sends to it')
    .argument('<name>', 'the agent type, such as word-count')
    .addOption(
      new Option('--language <language>', 'what it is written in')
        .choices(LANGUAGES)
        .default('typescript'),
    )
    .option('--into <folder>', 'where to, an empty folder (default: one of that name here)')
    .action(
      run(
        async (
          context,
          name: string,
          { language, into }: { language: (typeof LANGUAGES)[number]; into: string | undefined },
        ) => {
          const { newAgent } = await import('./commands/new-agent.ts')
          return newAgent(context, { name, language, into })
        },
      ),
    )
}
