// Writes infra/reference/commands.md from the definitions of the command line itself; with --check it only says whether it is up to date.
import { fileURLToPath } from 'node:url'
import type { Command, Option } from 'commander'
import { markdownTable } from '@baton/infra/markdown-table'
import { writePage } from '@baton/infra/write-page'
import { EXIT } from './src/exit-codes.ts'
import { createProgram } from './src/program.ts'

const INTRODUCTION = `# Commands

Every command of \`npm run baton\`, with its arguments and options, as the program defines them. In an image or an installation of its own the same words follow
\`baton\`. Data goes to stdout, words to stderr; \`--help\` after any command says what stands here.

This file is written by \`node services/cli/generate-commands.ts\`; do not edit it.`

/** What each exit code says; it does not compile until a new one has its words. */
const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  fine: 'fine',
  failure: 'failure: stderr says what and how to mend it',
  usage: 'usage: an unknown command, option or argument; nothing was done',
  verificationFailed: 'verification failed: what was checked is not what was recorded',
  incomplete: 'incomplete: something is missing, so that it cannot be said',
  notFound: 'not found',
  notAllowed: 'not allowed',
  interrupted: 'interrupted',
}

const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

/** Everything below a command, itself first where it can be run. */
function runnable(command: Command, path: readonly string[]): readonly [string, Command][] {
  const names = [...path, command.name()]
  const below = command.commands.filter((one) => one.name() !== 'help')
  const deeper = below.flatMap((one) => runnable(one, names))
  const usable = below.length === 0 || command.registeredArguments.length > 0
  return usable ? [[names.join(' '), command], ...deeper] : deeper
}

function usageOf(name: string, command: Command): string {
  const given = command.registeredArguments.map((one) => {
    const word = one.variadic ? `${one.name()}...` : one.name()
    return one.required ? `<${word}>` : `[${word}]`
  })
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags)
  const more = command.options.length > required.length ? ['[options]'] : []
  return ['npm run baton --', name, ...given, ...required, ...more].join(' ')
}

function optionRow(option: Option): readonly string[] {
  const { flags, description, defaultValue, mandatory, argChoices } = option
  const preset = Array.isArray(defaultValue) && defaultValue.length === 0 ? undefined : defaultValue
  const notes = [
    mandatory ? '**required**' : '',
    argChoices === undefined ? '' : `one of ${argChoices.map((one) => `\`${one}\``).join(', ')}`,
    preset === undefined || typeof preset === 'boolean' ? '' : `default \`${String(preset)}\``,
  ].filter((note) => note !== '')
  return [`\`${inCell(flags)}\``, inCell([description, ...notes].join('; '))]
}

function section([name, command]: readonly [string, Command]): string {
  const given = command.registeredArguments
    .filter(({ description }) => description !== '')
    .map((one) => [`\`${one.name()}\``, inCell(one.description)])
  const rows = [...given, ...command.options.map(optionRow)]
  const table = rows.length === 0 ? [] : [markdownTable(['argument or option', 'meaning'], rows)]
  const words = command.description()
  const sentence = `${words.charAt(0).toUpperCase()}${words.slice(1)}${words.endsWith('.') ? '' : '.'}`
  const heading = name.includes(' ') ? [`### ${name}`] : []
  return [...heading, sentence, `\`\`\`\n${usageOf(name, command)}\n\`\`\``, ...table].join('\n\n')
}

function page(): string {
  const silent = () => undefined
  const openContext = (): never => {
    throw new Error('nothing is run')
  }
  const program = createProgram(
    { openContext, writeOut: silent, writeError: silent },
    () => async () => {},
  )
  const globals = markdownTable(['option', 'meaning'], program.options.map(optionRow))
  const codes = markdownTable(
    ['exit code', 'meaning'],
    Object.entries(EXIT).map(([name, code]) => [String(code), MEANINGS[name as keyof typeof EXIT]]),
  )
  const groups = program.commands
    .filter((one) => one.name() !== 'help')
    .map((one) => `## ${one.name()}\n\n${runnable(one, []).map(section).join('\n\n')}`)
  return [INTRODUCTION, '## Everywhere', globals, codes, ...groups].join('\n\n')
}

writePage(fileURLToPath(new URL('../../infra/reference/commands.md', import.meta.url)), page())
