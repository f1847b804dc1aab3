// Drives a phone through its own adb port with Tango (@yume-chan/adb), an
// implementation of adb by other people. Usage: node client.mjs PORT KEY.pem
//
// It prints one line of JSON for each thing that it did, and waits for a line on its
// standard input before it gives up the port that it had reversed.
import net from "node:net";
import fs from "node:fs";
import crypto from "node:crypto";
import readline from "node:readline";
import { once } from "node:events";
import { Duplex } from "node:stream";
import { Adb, AdbDaemonTransport, AdbPacket, AdbPacketSerializeStream } from "@yume-chan/adb";
import {
  Consumable,
  ReadableStream,
  StructDeserializeStream,
  WritableStream,
  WrapReadableStream,
} from "@yume-chan/stream-extra";

const [port, keyFile] = process.argv.slice(2);
const say = (what, value) =>
  console.log(JSON.stringify({ what, value }, (_, v) => (typeof v === "bigint" ? Number(v) : v)));
const text = (bytes) => Buffer.from(bytes).toString();

async function connection() {
  const socket = net.connect(Number(port), "127.0.0.1");
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.setNoDelay(true);
  const web = Duplex.toWeb(socket);
  const serialize = new AdbPacketSerializeStream();
  const sink = web.writable.getWriter();
  serialize.readable
    .pipeTo(
      new WritableStream({
        write: (chunk) => chunk.tryConsume((bytes) => sink.write(bytes.slice())),
        close: () => sink.close(),
      }),
    )
    .catch(() => {});
  return {
    readable: new WrapReadableStream(web.readable).pipeThrough(new StructDeserializeStream(AdbPacket)),
    writable: serialize.writable,
  };
}

const credentialStore = {
  generateKey() {
    throw new Error("there is a key");
  },
  *iterateKeys() {
    const key = crypto.createPrivateKey(fs.readFileSync(keyFile));
    yield { buffer: new Uint8Array(key.export({ type: "pkcs8", format: "der" })), name: "tango@test" };
  },
};

async function all(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const transport = await AdbDaemonTransport.authenticate({
  serial: "phone",
  connection: await connection(),
  credentialStore,
});
const adb = new Adb(transport);
say("banner", { model: adb.banner.model, features: adb.banner.features });

const shell = adb.subprocess.shellProtocol;
say("shell", await shell.spawnWaitText("echo out; echo err >&2; exit 7"));

const cat = await shell.spawn("cat");
const writer = cat.stdin.getWriter();
await writer.write(Buffer.from("abc\n"));
await writer.close();
say("stdin", { stdout: text(await all(cat.stdout)), exitCode: await cat.exited });

say("exec", await adb.subprocess.noneProtocol.spawnWaitText("echo raw"));

const sent = crypto.randomBytes(300_000);
const sync = await adb.sync();
await sync.write({
  filename: "/data/local/tmp/oracle/file",
  file: new ReadableStream({
    start(controller) {
      for (let i = 0; i < sent.length; i += 65_536) controller.enqueue(new Consumable(sent.subarray(i, i + 65_536)));
      controller.close();
    },
  }),
  permission: 0o644,
  mtime: 1_600_000_000,
});
const back = await all(sync.read("/data/local/tmp/oracle/file"));
const stat = await sync.lstat("/data/local/tmp/oracle/file");
const missing = await sync.lstat("/no/such/file").then(() => "is there", (e) => e.name);
say("sync", {
  same: back.equals(sent),
  size: stat.size,
  permission: stat.permission,
  mtime: stat.mtime,
  listed: (await sync.readdir("/data/local/tmp/oracle")).map((e) => e.name),
  missing,
});
await sync.dispose();

const many = await Promise.all(
  Array.from({ length: 20 }, (_, i) => shell.spawnWaitText(`echo ${i}; exit ${i}`)),
);
say("many", many.every((r, i) => r.stdout === `${i}\n` && r.exitCode === i));

say("logcat", await adb.subprocess.noneProtocol.spawnWaitText("logcat -d -b main"));
say("refused", await adb.createSocket("no-such-service:").then(() => "granted", () => "refused"));

// The stream is accepted once this has returned, so that it waits for nothing.
let hear;
const heard = new Promise((resolve) => (hear = resolve));
await adb.reverse.add("tcp:7000", (socket) => {
  const out = socket.writable.getWriter();
  socket.readable
    .getReader()
    .read()
    .then(async ({ value }) => {
      await out.write(Buffer.from("heard " + text(value)));
      hear(text(value));
    });
});
say("reverse", (await adb.reverse.list()).map((l) => l.localName));
await once(readline.createInterface({ input: process.stdin }), "line");
say("heard", await heard);
await adb.reverse.removeAll();
say("removed", (await adb.reverse.list()).length);
say("root", await adb.createSocketAndWait("root:"));
process.exit(0);
