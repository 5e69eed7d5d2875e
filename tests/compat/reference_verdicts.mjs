// Asks the reference validator about many streams at once. The file named last holds them one after the other, each
// behind its length (four bytes, the lowest first); one line of JSON is printed for each.
//   REFERENCE=DIR node reference_verdicts.mjs remote|transfer|takeout FILE
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const require = createRequire(path.resolve(process.env.REFERENCE, 'x.js'));
const library = require('@signalapp/libsignal-client/dist/MessageBackup.js');
const [purposeName, packed] = process.argv.slice(2);
const purpose = {
  remote: library.Purpose.RemoteBackup,
  transfer: library.Purpose.DeviceTransfer,
  takeout: library.Purpose.TakeoutExport ?? 2,
}[purposeName];

function* records(bytes) {
  let at = 0;
  while (at < bytes.length) {
    let length = 0;
    let scale = 1;
    let byte;
    do {
      if (at >= bytes.length) throw new Error('the stream ends in a length');
      byte = bytes[at++];
      length += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    if (at + length > bytes.length) throw new Error('the stream ends in a record');
    yield new Uint8Array(bytes.subarray(at, at + length));
    at += length;
  }
}

function verdict(bytes) {
  let frame = 0;
  try {
    let validator = null;
    for (const record of records(bytes)) {
      if (validator === null) {
        validator = new library.OnlineBackupValidator(record, purpose);
      } else {
        frame += 1;
        validator.addFrame(record);
      }
    }
    frame = -1;
    validator.finalize();
    return { ok: true };
  } catch (error) {
    return { ok: false, frame, error: String(error.message).split('\n')[0] };
  }
}

const all = readFileSync(packed);
for (let at = 0; at < all.length; ) {
  const size = all.readUInt32LE(at);
  process.stdout.write(`${JSON.stringify(verdict(all.subarray(at + 4, at + 4 + size)))}\n`);
  at += 4 + size;
}
