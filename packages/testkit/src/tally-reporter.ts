// The last line of a test run, in a form that any reader understands: `N passed, N failed, N skipped`.
import { writeSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** Counts tests; a file that could not be loaded, a failed hook and an unhandled error count as one failure each. */
class TallyReporter implements Reporter {
  private passed = 0
  private failed = 0
  private skipped = 0
  private finished = false

  onInit(): void {
    process.once('exit', () => writeSync(1, `${this.line()}\n`))
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.finished = true
    this.failed += unhandledErrors.length
    for (const module of modules) this.count(module)
  }

  private count(module: TestModule): void {
    this.failed += module.errors().length
    for (const suite of module.children.allSuites()) this.failed += suite.errors().length
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed') this.passed += 1
      else if (state === 'skipped') this.skipped += 1
      else this.failed += 1
    }
  }

  private line(): string {
    if (!this.finished) this.failed += 1
    const line = `${this.passed} passed, ${this.failed} failed`
    return this.skipped === 0 ? line : `${line}, ${this.skipped} skipped`
  }
}

export default TallyReporter
