// Opens the built manual in Chromium as readers do: on narrow and wide screens, light and dark, and on paper. Fails when a page scrolls
// sideways, asks another origin, breaks its own content policy, throws, or has a fault that axe finds.
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import { chromium } from 'playwright-core'

const [address = '', folder = ''] = process.argv.slice(2)
const BROWSERS = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/google-chrome']
const WIDTHS = [320, 390, 768, 1440]
/** Where screens are kept for a person to look at, and axe looks. */
const SHOWN = [
  '',
  'tutorial/',
  'secure/tls/',
  'reference/settings/',
  'reference/commands/',
  'runbooks/disk-full/',
  'explanation/why/',
]
/** What all pages share is a fault of each page, and is said once. */
const FAULTS_SHOWN_MAX = 30
const FAULT_LENGTH_MAX = 400
/** One rule is left out: the button of the search shows its keys beside its name. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

const say = (words) => process.stderr.write(`${words}\n`)
const executablePath = BROWSERS.find((path) => path !== undefined && existsSync(path))
if (executablePath === undefined) {
  say('baton: there is no Chromium here. Install one, or name it in CHROMIUM_PATH.')
  process.exit(1)
}

const faults = []
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

async function addresses() {
  const page = await browser.newPage()
  await page.goto(address)
  const links = await page
    .locator('main a[href^="/"]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  await page.close()
  const paths = links
    .map((link) => link.split('#')[0].slice(1))
    .filter((path) => path === '' || path.endsWith('/'))
  return [...new Set(['', ...paths])]
}

function watch(page) {
  const where = () => page.url().slice(address.length)
  page.on('pageerror', (error) => faults.push(`${where()}: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${where()}: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith('data:'))
      faults.push(`${where()} asks ${request.url()}`)
  })
}

async function measureWidths(paths) {
  const page = await browser.newPage()
  watch(page)
  for (const path of paths) {
    await page.goto(address + path)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      const { content, culprit } = await page.evaluate(() => {
        const wide = [...document.querySelectorAll('main *')].find((one) => {
          const scrolls = one.closest('pre') ?? one.closest('[style*=overflow]')
          return scrolls === null && one.getBoundingClientRect().right > innerWidth + 1
        })
        return {
          content: document.documentElement.scrollWidth,
          culprit: wide?.outerHTML.slice(0, 120),
        }
      })
      if (content > width)
        faults.push(`${path || 'first page'} is ${content} wide at ${width}: ${culprit ?? ''}`)
    }
  }
  await page.close()
}

async function show(path, colorScheme, width) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 844 } })
  const page = await context.newPage()
  watch(page)
  await page.goto(address + path)
  await page.evaluate(() => document.fonts.ready)
  const name = `${path.replaceAll('/', '-').replace(/-$/, '') || 'home'}-${colorScheme}-${width}`
  await page.screenshot({ path: join(folder, `${name}.png`) })
  const { violations } = await new AxeBuilder({ page })
    .withTags(RULES)
    .disableRules(['label-content-name-mismatch'])
    .analyze()
  for (const { id, nodes } of violations)
    faults.push(`${name}: axe ${id}, ${nodes.length} times: ${nodes[0]?.html.slice(0, 160)}`)
  await context.close()
}

async function print(path) {
  const page = await browser.newPage()
  await page.goto(address + path)
  await page.pdf({
    path: join(folder, `${path.replaceAll('/', '-').replace(/-$/, '') || 'home'}.pdf`),
    format: 'A4',
    margin: { top: '18mm', bottom: '18mm', left: '16mm', right: '16mm' },
  })
  await page.close()
}

async function search() {
  const page = await browser.newPage()
  watch(page)
  await page.goto(address)
  await page.keyboard.press('Control+k')
  await page.locator('dialog input').fill('dead letter')
  await page
    .locator('dialog .pagefind-ui__result')
    .first()
    .waitFor({ timeout: 10_000 })
    .catch(() => faults.push('the search finds nothing'))
  await page.close()
}

const startedAt = performance.now()
try {
  const paths = await addresses()
  await measureWidths(paths)
  for (const path of SHOWN)
    for (const colorScheme of ['light', 'dark'])
      for (const width of [390, 1440]) await show(path, colorScheme, width)
  for (const path of SHOWN) await print(path)
  await search()
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  const screens = SHOWN.length * 4
  say(
    `  ${faults.length === 0 ? '✓' : '✗'} looked at      ${paths.length} pages at ${WIDTHS.join(', ')}; ${screens} screens and ${SHOWN.length} prints in ${folder} (${seconds} s)`,
  )
  const distinct = [
    ...new Map(faults.map((fault) => [fault.replace(/^[^:]*: /, ''), fault])).values(),
  ]
  for (const fault of distinct.slice(0, FAULTS_SHOWN_MAX))
    say(`      ${fault.slice(0, FAULT_LENGTH_MAX)}`)
  if (distinct.length > FAULTS_SHOWN_MAX)
    say(`      and ${distinct.length - FAULTS_SHOWN_MAX} more`)
} finally {
  await browser.close()
}
process.exitCode = faults.length === 0 ? 0 : 1
