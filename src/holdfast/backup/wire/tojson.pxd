from holdfast.backup.wire.render cimport Renderer
from holdfast.backup.wire.walk cimport Walker
