"""The package's field numbers must equal those of trace.proto and kernel_metrics.proto, as protoc reads them."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import support
from lanescope import _schema

try:
    from google.protobuf import descriptor_pb2
except ImportError:
    descriptor_pb2 = None


@unittest.skipIf(descriptor_pb2 is None or shutil.which("protoc") is None, "needs protoc and Python's protobuf")
class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "schema"
            schemas = [support.ROOT / "proto/lanescope" / name for name in ("trace.proto", "kernel_metrics.proto")]
            subprocess.run(["protoc", f"--descriptor_set_out={out}", "-I", support.ROOT / "proto", *schemas], check=True)
            described = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
        cls.messages = {message.name: {field.name: field for field in message.field} for file in described for message in file.message_type}
        cls.enumerations = {enum.name: {value.number: value.name for value in enum.value} for file in described for enum in file.enum_type}

    def test_fields_have_the_numbers_and_types_of_the_schema(self):
        kind = descriptor_pb2.FieldDescriptorProto
        types = {
            kind.TYPE_UINT32: "uint", kind.TYPE_UINT64: "uint", kind.TYPE_ENUM: "uint", kind.TYPE_SINT32: "sint", kind.TYPE_SINT64: "sint",
            kind.TYPE_FIXED32: "fixed32", kind.TYPE_FIXED64: "fixed64", kind.TYPE_DOUBLE: "double", kind.TYPE_BOOL: "bool", kind.TYPE_BYTES: "bytes",
            kind.TYPE_INT32: "int",
        }
        for name, message in _schema.MESSAGES.items():
            for field_name, (number, field_type) in message.items():
                with self.subTest(message=name, field=field_name):
                    field = self.messages[name][field_name]
                    expected = field.type_name.rsplit(".", 1)[-1] if field.type == kind.TYPE_MESSAGE else types[field.type]
                    repeated = field.label == kind.LABEL_REPEATED
                    self.assertEqual((number, field_type), (field.number, [expected] if repeated else expected))

    def test_every_kind_of_event_is_read(self):
        kinds = {name for name, field in self.messages["EventChunk"].items() if field.HasField("oneof_index")}
        self.assertLessEqual(kinds, set(_schema.MESSAGES["EventChunk"]))

    def test_words_of_enumerations_are_those_of_the_schema(self):
        for name, words in _schema.ENUMERATIONS.items():
            if name not in self.enumerations:
                continue  # an enumeration of CUPTI, or made from a field of the schema
            said = self.enumerations[name]
            for number, word in enumerate(words):
                with self.subTest(enumeration=name, number=number):
                    self.assertTrue(said[number].replace("_", " ").lower().endswith(word), f"{said[number]} is called {word}")

    def test_types_of_frames_are_those_of_the_schema(self):
        said = {name[len("FRAME_"):].lower(): number for kind in ("FrameType", "KernelFrame") for number, name in self.enumerations[kind].items()}
        self.assertEqual(_schema.FRAME_TYPES, {name: said[name] for name in _schema.FRAME_TYPES})
        self.assertEqual(_schema.LARGEST_FRAME_TYPE, max(said.values()))


if __name__ == "__main__":
    unittest.main()
