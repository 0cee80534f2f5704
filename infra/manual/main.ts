// `npm run manual`: builds the manual as a site and checks it. --serve shows it, --look opens it in a browser as a reader would.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installWorkspace } from '../own-workspace.ts'
import { run } from '../run.ts'
import { checkSite } from './check-site.ts'
import { addContentPolicies } from './content-policy.ts'
import { brokenLinks, readManual, ROOT } from './pages.ts'
import { isWrong, runCommands } from './run-commands.ts'
import { serveSite } from './serve.ts'
import { stageManual } from './stage.ts'

const FOLDER = join(ROOT, 'infra', 'manual')
const USAGE = `usage: npm run manual [-- options]
  (none)          build the manual and check every link of it
  --serve         build it, then show it until Ctrl-C (--port NUMBER, default 8426)
  --run-commands  type every complete command of the pages into an instance of its own
  --look          build it, then open it in Chromium: narrow screens, print, contrast, requests to others`

/** A fault of what all pages share is a line for each page. */
const FAULTS_SHOWN_MAX = 20

const say = (words: string) => process.stderr.write(`${words}\n`)

async function build(): Promise<string> {
  const manual = readManual()
  const broken = brokenLinks(manual.pages)
  if (broken.length > 0) throw new Error(`links that lead nowhere:\n  ${broken.join('\n  ')}`)
  const { folder, files } = stageManual(manual)
  say(
    `  ✓ pages          ${manual.pages.length}, each as text too; ${files} files that they lead to`,
  )
  await installWorkspace(FOLDER, 'build the manual')
  const startedAt = performance.now()
  const args = [join('node_modules', 'astro', 'bin', 'astro.mjs'), 'build']
  const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1', NO_COLOR: '1' }
  const { exitCode, output } = await run(process.execPath, args, { cwd: FOLDER, env })
  if (exitCode !== 0) throw new Error(`the site was not built:\n${output}`)
  say(`  ✓ built          in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  const site = join(folder, 'site')
  addContentPolicies(site)
  const { pages, links, faults } = checkSite(site)
  if (faults.length > 0)
    throw new Error(`links that lead nowhere:\n  ${faults.slice(0, FAULTS_SHOWN_MAX).join('\n  ')}`)
  say(`  ✓ links          ${links} on ${pages} pages, every page, anchor and file is there`)
  return site
}

/** One line for each that ended with anything but 0, and one for each reason not to type others. */
async function typeCommands(): Promise<number> {
  const { pages, ran, notTyped } = await runCommands((one) => {
    const { page, command, exitCode, code } = one
    if (exitCode !== 0)
      say(`  ${isWrong(one) ? '✗' : '–'} ${command}\n      ${page}: exit ${exitCode} ${code ?? ''}`)
  })
  const wrong = ran.filter(isWrong).length
  const fine = ran.filter(({ exitCode }) => exitCode === 0).length
  say(
    `  ${wrong === 0 ? '✓' : '✗'} commands       ${ran.length} of ${pages} pages typed, ${fine} ended with 0, ${wrong} wrong`,
  )
  say(`    not typed here ${notTyped.length}`)
  for (const [why, commands] of Map.groupBy(notTyped, (one) => one.why))
    say(
      `      ${commands.length}  ${why}${why.startsWith('only') ? `: ${commands.map(({ command }) => command).join('; ')}` : ''}`,
    )
  return wrong === 0 ? 0 : 1
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      serve: { type: 'boolean', default: false },
      look: { type: 'boolean', default: false },
      'run-commands': { type: 'boolean', default: false },
      port: { type: 'string', default: '8426' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(`${USAGE}\n`)
    return 0
  }
  if (values['run-commands']) return await typeCommands()
  const site = await build()
  process.stdout.write(`${join(site, 'index.html')}\n`)
  if (!values.serve && !values.look) {
    say('\nNext: npm run manual -- --serve')
    return 0
  }
  const server = await serveSite(site, values.look ? 0 : Number(values.port))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  if (values.look) {
    const args = [join(FOLDER, 'look.mjs'), address, join(ROOT, '.baton', 'manual', 'look')]
    const { exitCode, output } = await run(process.execPath, args, { cwd: FOLDER })
    server.close()
    server.closeAllConnections()
    say(output.trimEnd())
    return exitCode
  }
  say(`\nThe manual is at ${address}   (Ctrl-C ends)`)
  await once(process, 'SIGINT')
  server.close()
  server.closeAllConnections()
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  const { message, code } = error as Error & { code?: string }
  say(`baton: ${message}`)
  if (code?.startsWith('ERR_PARSE_ARGS')) say(USAGE)
  process.exitCode = code?.startsWith('ERR_PARSE_ARGS') ? 2 : 1
}
